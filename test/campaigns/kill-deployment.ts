/** One life of the deployment that the kill campaign kills: started from its directory, talked to over HTTP, ended by SIGKILL. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { systemClock } from '#runtime/system-clock.ts';
import type { KillChildOrder, KillChildReady } from './kill-child.ts';

const CHILD = fileURLToPath(new URL('./kill-child.ts', import.meta.url));
const PRELOAD = new URL('./kill-preload.ts', import.meta.url).href;

export interface DeathPoint {
  /** `supervisor` or a team. */
  readonly who: string;
  readonly nth: number;
  readonly when: 'before' | 'after';
}

export interface DeploymentOrder {
  readonly directory: string;
  readonly postgresUrl: string | undefined;
  readonly mail: { readonly smtp: string; readonly mailbox: string };
  readonly point: DeathPoint | undefined;
}

export interface Deployment {
  /** Undefined when it died before it was ready. */
  readonly ready: KillChildReady | undefined;
  /** Resolves with exit code or signal of the supervisor. */
  readonly ended: Promise<string>;
  /** Kills what still lives of supervisor and teams; returns how many lived. */
  kill(teamsFirst: boolean): number;
  /** Kills one team. */
  killTeam(name: string): boolean;
  stop(): Promise<void>;
  readonly said: () => string;
}

export async function startDeployment(order: DeploymentOrder): Promise<Deployment> {
  const child = spawn(process.execPath, [...flagsOf(order), CHILD, JSON.stringify(childOrder(order))], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      CASEOPS_SMTP: order.mail.smtp,
      CASEOPS_MAILBOX: order.mail.mailbox,
      NODE_TEST_CONTEXT: undefined,
    },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)));
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? code));
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line').then(([text]) => String(text)), ended.then(() => undefined)]);
  const ready = line === undefined ? undefined : (JSON.parse(line) as KillChildReady);
  const killTeam = (name: string): boolean => {
    const team = ready?.teams.find((one) => one.name === name);
    return team !== undefined && killed(team.pid);
  };
  return {
    ready,
    ended,
    killTeam,
    kill: (teamsFirst) => {
      const teams = (ready?.teams ?? []).map(({ pid }) => pid);
      const own = child.pid === undefined ? [] : [child.pid];
      const pids = teamsFirst ? [...teams, ...own] : [...own, ...teams];
      return pids.filter((pid) => (pid === child.pid && !alive(child) ? false : killed(pid))).length;
    },
    stop: async () => {
      if (alive(child)) child.kill('SIGTERM');
      const force = systemClock.at(systemClock.nowMs() + 10_000, () => void child.kill('SIGKILL'));
      await ended;
      force();
    },
    said: () => said,
  };
}

function alive({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** False when it is gone already. */
function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

function flagsOf({ point, postgresUrl }: DeploymentOrder): readonly string[] {
  const conditions = process.execArgv.filter((argument) => argument.startsWith('--conditions='));
  if (point === undefined || (point.who === 'supervisor' && postgresUrl !== undefined)) return conditions;
  const database = point.who === 'supervisor' ? '/caseops.db' : `/teams/${point.who}/`;
  const query = new URLSearchParams({ database, nth: String(point.nth), when: point.when });
  return [...conditions, '--import', `${PRELOAD}?${query.toString()}`];
}

function childOrder({ directory, postgresUrl, point }: DeploymentOrder): KillChildOrder {
  const commit = point?.who === 'supervisor' && postgresUrl !== undefined ? point : undefined;
  return { directory, postgresUrl, commit };
}
