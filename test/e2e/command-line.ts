/** The command line as a user has it: real processes, a data directory of its own. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CaseOpsConfigInput } from 'caseops';

const MAIN = join(import.meta.dirname, '../../cli/main.ts');
const FLAGS = ['--conditions=@caseops/source', MAIN];

export interface Done {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ServerProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly url: string;
  /** Team → process id, as printed. */
  readonly pids: ReadonlyMap<string, number>;
  readonly text: () => string;
}

export class Home implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'caseops-e2e-'));

  private readonly more: NodeJS.ProcessEnv;

  private readonly cwd: string | undefined;

  /** `more`: what stands in the environment besides; `config`: the configuration of the directory that commands are typed in. */
  constructor(more: NodeJS.ProcessEnv = {}, config?: CaseOpsConfigInput) {
    this.more = more;
    if (config === undefined) return;
    this.cwd = this.directory;
    writeFileSync(join(this.directory, 'caseops.config.json'), JSON.stringify(config));
  }

  /** Runs one command to its end. */
  run(...args: readonly string[]): Done {
    const done = spawnSync(process.execPath, [...FLAGS, ...args], {
      env: this.environment(),
      cwd: this.cwd,
      encoding: 'utf8',
      timeout: 60_000,
      maxBuffer: 50_000_000,
    });
    return { code: done.status, stdout: done.stdout, stderr: done.stderr };
  }

  /** Starts a command and leaves it running. */
  start(...args: readonly string[]): { readonly child: ChildProcess; readonly done: Promise<Done> } {
    const child = spawn(process.execPath, [...FLAGS, ...args], {
      env: this.environment(),
      cwd: this.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const done = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
    return { child, done };
  }

  /** `caseops serve`, resolved when it says how to reach it and which processes its teams are. */
  async serve(...args: readonly string[]): Promise<ServerProcess> {
    const child = spawn(process.execPath, [...FLAGS, 'serve', ...args], {
      env: this.environment(),
      cwd: this.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const ended = once(child, 'close');
    while (!/next: caseops ask/.test(text)) {
      if (child.exitCode !== null) throw new Error(`serve ended: ${text}`);
      await Promise.race([once(child.stderr, 'data'), ended]);
    }
    const pids = new Map(
      [...text.matchAll(/^ {2}(\w+)\s+process (\d+)/gm)].map(([, team = '', pid]) => [team, Number(pid)]),
    );
    return {
      child,
      url: /listens at (\S+)/.exec(text)?.[1] ?? '',
      pids,
      text: () => text,
      [Symbol.asyncDispose]: async () => {
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
        await ended;
      },
    };
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  private environment(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.more, CASEOPS_HOME: this.directory, NO_COLOR: '1', NODE_TEST_CONTEXT: undefined };
  }
}
