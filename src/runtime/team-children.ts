/** Starts each team of a case as an operating system process of its own. A team ends when this process does. */
import type { PrivateJwk } from '#authority/es256.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { fork, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CallLimits } from './call-limits.ts';
import { teamMessage, type TeamReady, type TeamStart, type Trust } from './team-config.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

export interface TeamChild extends AsyncDisposable {
  readonly team: string;
  readonly pid: number;
  readonly ready: TeamReady;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

export interface TeamChildOptions {
  readonly team: string;
  readonly caseModule: string;
  readonly directory: string;
  readonly trust: Trust;
  /** Handed over on the private channel, never by argument or environment. */
  readonly key: PrivateJwk | undefined;
  readonly callLimits: CallLimits;
  readonly startMsMax: number;
  readonly telemetry: TelemetryConfig;
}

const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const ENTRY = fileURLToPath(new URL(`./team-process${EXTENSION}`, import.meta.url));
const STOP_MS_MAX = 3_000;

/** Resolves when the team listens; ERR_TEAM_UNREACHABLE with the team's own words when it ends or stays silent. */
export async function startTeamChild(options: TeamChildOptions): Promise<TeamChild> {
  mkdirSync(options.directory, { recursive: true });
  const child = fork(ENTRY, [], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      NODE_COMPILE_CACHE: join(options.directory, '../compile-cache'),
    },
  });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  const said = collectStderr(child);
  // A team's log lines are this process's too; its environment is not.
  if (options.telemetry.logLevel !== undefined) child.stderr?.pipe(process.stderr, { end: false });
  const start: TeamStart = {
    kind: 'start',
    caseModule: options.caseModule,
    team: options.team,
    directory: options.directory,
    trust: options.trust,
    telemetry: options.telemetry,
    ...(options.key === undefined ? {} : { key: options.key }),
    callLimits: { ...options.callLimits },
  };
  child.send(start);
  try {
    const ready = await firstMessage(child, options);
    return { team: options.team, pid: child.pid ?? 0, ready, ended, [Symbol.asyncDispose]: () => stop(child, ended) };
  } catch (error) {
    await stop(child, ended);
    if (error instanceof CaseOpsError) throw error;
    throw new CaseOpsError(
      'ERR_TEAM_UNREACHABLE',
      `Team ${options.team} did not start: ${error instanceof Error ? error.message : String(error)}. ${said()}`,
      { at: 'runtime', cause: error },
    );
  }
}

function firstMessage(child: ChildProcess, { team, startMsMax }: TeamChildOptions): Promise<TeamReady> {
  return new Promise((resolve, reject) => {
    const late = AbortSignal.timeout(startMsMax);
    late.addEventListener('abort', () => reject(new Error(`it said nothing in ${startMsMax} ms`)), { once: true });
    child.once('exit', (code, signal) => reject(new Error(`it ended with ${signal ?? `code ${code}`}`)));
    child.once('error', reject);
    child.once('message', (raw) => {
      const message = teamMessage.safeParse(raw);
      if (!message.success) reject(new Error('its first message is not one of ours'));
      else if (message.data.kind === 'ready') resolve(message.data);
      else
        reject(
          new CaseOpsError('ERR_TEAM_UNREACHABLE', `Team ${team} did not start: ${message.data.message}`, {
            at: 'runtime',
          }),
        );
    });
  });
}

/** The last words on stderr, bounded. */
function collectStderr(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-2_000);
  });
  return () => text.trim();
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM');
    const force = AbortSignal.timeout(STOP_MS_MAX);
    force.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  }
  await ended;
}
