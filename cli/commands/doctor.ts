/** `caseops doctor`: what this machine and directory are like, each check with its next step. */
import { checkInstallation } from 'caseops';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { dataDirectory, lastCase } from '../cases.ts';
import { EXIT } from '../exit-codes.ts';
import { installation } from '../installation.ts';
import { print, printJson, table, tone, type Format } from '../output.ts';
import { findServer } from '../server-file.ts';

interface Check {
  readonly id: string;
  readonly ok: boolean;
  readonly got: string;
  readonly next: string;
}

const NODE_MAJOR_MIN = 24;

export async function doctor(options: { readonly output: Format }): Promise<number> {
  const configured = await configuration();
  const checks = [node(), await sqlite(), directory(), await server(), ...configured];
  const ok = checks.every((check) => check.ok);
  if (options.output === 'table')
    print(
      table(
        checks.map((check) => [
          tone(check.ok ? 'ok' : 'bad', check.ok ? 'holds' : 'fails'),
          check.id,
          check.got,
          check.ok ? '' : check.next,
        ]),
      ),
    );
  else {
    const failed = checks.filter((check) => !check.ok);
    printJson({
      name: 'doctor',
      ok,
      counts: { passed: checks.length - failed.length, failed: failed.length, pending: 0, notTested: 0 },
      figures: {},
      failures: failed.map((check) => ({ id: check.id, expected: check.next, got: check.got })),
      checks,
      date: new Date().toISOString(),
    });
  }
  return ok ? EXIT.ok : EXIT.error;
}

function node(): Check {
  const major = Number(process.versions.node.split('.')[0]);
  return { id: 'node', ok: major >= NODE_MAJOR_MIN, got: process.version, next: `use Node ${NODE_MAJOR_MIN} or later` };
}

async function sqlite(): Promise<Check> {
  try {
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(':memory:');
    const version = String(database.prepare('select sqlite_version() as v').get()?.['v']);
    database.close();
    return { id: 'sqlite', ok: true, got: version, next: '' };
  } catch (error) {
    return {
      id: 'sqlite',
      ok: false,
      got: error instanceof Error ? error.message : String(error),
      next: 'use a Node with node:sqlite',
    };
  }
}

function directory(): Check {
  const path = dataDirectory(lastCase());
  try {
    // A recursive mkdir below /proc never comes back.
    if (/^\/proc(\/|$)/.test(path)) throw new Error('nothing can be kept there');
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.W_OK);
    return { id: 'data directory', ok: true, got: path, next: '' };
  } catch {
    return {
      id: 'data directory',
      ok: false,
      got: path,
      next: 'make it writable, or set CASEOPS_HOME to a directory that is',
    };
  }
}

async function server(): Promise<Check> {
  const running = await findServer(dataDirectory(lastCase()));
  return {
    id: 'server',
    ok: true,
    got:
      running === undefined
        ? 'none runs; commands start one for themselves'
        : `${running.url} (process ${running.pid})`,
    next: '',
  };
}

/** One check, or one per finding. */
async function configuration(): Promise<readonly Check[]> {
  const { file, findings, store } = await checkInstallation();
  if (findings.length === 0) {
    await installation();
    const read = { id: 'configuration', ok: true, got: file ?? 'none; everything has its default', next: '' };
    return store === undefined ? [read] : [read, { id: 'store', ok: true, got: store, next: '' }];
  }
  return findings.map(({ pointer, got, message }) => ({
    id: `configuration ${pointer || '/'}`,
    ok: false,
    got,
    next: message,
  }));
}
