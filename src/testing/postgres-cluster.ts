/**
 * A real Postgres for tests: the server that `PG_URL` names, or a throw-away cluster made of the machine's own binaries. The cluster
 * listens on 127.0.0.1 only, lives in a temporary directory, and is gone when its process is, however that ended.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { CaseOpsError } from '#contracts/error.ts';

const run = promisify(execFile);

export interface PostgresDatabase extends AsyncDisposable {
  readonly url: string;
}

export interface PostgresCluster extends AsyncDisposable {
  /** A superuser's connection to the database `postgres`, with a password. */
  readonly url: string;
  /** An empty database of its own, dropped at the end with whoever is still connected. */
  database(): Promise<PostgresDatabase>;
  /** False when the server is somebody else's (`PG_URL`): then it is not restarted. */
  readonly ours: boolean;
  /** Ends every connection at once and starts again, as after a crash of the machine. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

const USER = 'caseops_admin';
const PASSWORD = 'throw-away';
const DEBIAN_VERSIONS = '/usr/lib/postgresql';
/** Another process may take the free port before the server does. */
const START_TRIES_MAX = 3;

/**
 * Starts a server, or gives the one that `PG_URL` names. With `env`, looks there instead of at the process's environment. Throws
 * ERR_STORE when there are no binaries.
 */
export async function startPostgres(env: NodeJS.ProcessEnv = process.env): Promise<PostgresCluster> {
  const given = env['PG_URL'];
  return given === undefined || given === '' ? startCluster() : foreignCluster(given);
}

function foreignCluster(url: string): PostgresCluster {
  const refuse = (): Promise<never> => Promise.reject(fault('The server that PG_URL names is not ours to stop.'));
  return {
    url,
    database: () => newDatabase(url),
    ours: false,
    restart: refuse,
    stop: refuse,
    start: refuse,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function startCluster(): Promise<PostgresCluster> {
  const bin = await findBinaries();
  const who = await unprivileged();
  const home = await mkdtemp(join(tmpdir(), 'caseops-postgres-'));
  const data = join(home, 'data');
  const secret = join(home, 'password');
  await writeFile(secret, PASSWORD);
  if (who.uid !== undefined && who.gid !== undefined)
    for (const path of [home, secret]) await chown(path, who.uid, who.gid);
  const as = { cwd: home, ...who };
  const auth = ['--auth=scram-sha-256', `--pwfile=${secret}`];
  await run(join(bin, 'initdb'), ['-D', data, '-U', USER, '-E', 'UTF8', '--locale=C', '--no-sync', ...auth], as);
  const control = async (...args: readonly string[]): Promise<void> => {
    await run(join(bin, 'pg_ctl'), ['-D', data, '-s', '-w', ...args], as);
  };
  const port = await startOnFreePort(home, control);
  const guard = guardOf(join(bin, 'pg_ctl'), home, who);
  const options = serverOptions(port);
  const url = `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`;
  return {
    url,
    database: () => newDatabase(url),
    ours: true,
    restart: () => control('-m', 'immediate', '-l', join(home, 'log'), '-o', options, 'restart'),
    stop: () => control('-m', 'immediate', 'stop'),
    start: () => control('-l', join(home, 'log'), '-o', options, 'start'),
    [Symbol.asyncDispose]: guard,
  };
}

async function newDatabase(server: string): Promise<PostgresDatabase> {
  const name = `caseops_${randomBytes(6).toString('hex')}`;
  await tell(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, [Symbol.asyncDispose]: () => tell(server, `drop database if exists ${name} with (force)`) };
}

async function tell(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A test's many connections fit, nothing listens but 127.0.0.1, and what was acknowledged is on the disk. */
function serverOptions(port: number): string {
  return [
    `-p ${port}`,
    '-c listen_addresses=127.0.0.1',
    "-c unix_socket_directories=''",
    '-c max_connections=200',
    '-c shared_buffers=128MB',
  ].join(' ');
}

async function startOnFreePort(home: string, control: (...args: readonly string[]) => Promise<void>): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    try {
      await control('-l', join(home, 'log'), '-o', serverOptions(port), 'start');
      return port;
    } catch (error) {
      if (tries >= START_TRIES_MAX) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The newest of Debian's versions. */
async function findBinaries(): Promise<string> {
  const versions = await readdir(DEBIAN_VERSIONS).catch(() => []);
  const newest = versions
    .map(Number)
    .filter(Number.isFinite)
    .toSorted((one, other) => other - one)[0];
  if (newest === undefined)
    throw fault(
      `There is no Postgres under ${DEBIAN_VERSIONS}; install it (apt-get install postgresql) or set PG_URL to a server.`,
    );
  return join(DEBIAN_VERSIONS, String(newest), 'bin');
}

interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** Postgres refuses to run as root: then the user `postgres` does, or `nobody`. */
async function unprivileged(): Promise<Identity> {
  if (process.getuid?.() !== 0) return {};
  for (const user of ['postgres', 'nobody']) {
    const ids = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])]).catch(() => undefined);
    if (ids !== undefined) return { uid: Number(ids[0].stdout), gid: Number(ids[1].stdout) };
  }
  throw fault('Postgres does not run as root, and there is neither a user postgres nor a user nobody.');
}

/**
 * A shell that reads until its input ends, which it does when we close it or are gone, and then takes the cluster down and away.
 * Returns the function that lets it.
 */
function guardOf(control: string, home: string, who: Identity): () => Promise<void> {
  const script = 'cat >/dev/null; "$1" -D "$2/data" -s -m immediate stop >/dev/null 2>&1; rm -rf "$2"';
  const shell = spawn('/bin/sh', ['-c', script, 'guard', control, home], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    ...who,
  });
  const exited = once(shell, 'exit');
  shell.unref();
  return async () => {
    shell.ref();
    shell.stdin.end();
    await exited;
  };
}

function fault(message: string): CaseOpsError {
  return new CaseOpsError('ERR_STORE', message, { at: 'testing', retryable: false });
}
