/** Starts the processes of a drill. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { SeededBreakName } from './seeded-breaks.ts';

export interface ChildOrder {
  readonly act: 'die-at-commit' | 'go-on';
  readonly path: string;
  readonly origin: string;
  readonly breakName: SeededBreakName | undefined;
  readonly runId: string;
  /** All notices have one key. */
  readonly shared: boolean;
}

export interface DrillProcess {
  /** Resolves when the process has said the word, or has ended: `ready` with its world open, `sending` at the owner's door. */
  until(word: 'ready' | 'sending'): Promise<void>;
  /** Lets a process that waits go on. */
  go(): void;
  /** What it has written so far: words, and the code with which the run was refused to it. */
  said(): string;
  /** Exit code or signal. */
  readonly ended: Promise<string>;
}

const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
/** From source, a process needs the condition that this one was started with. */
const CONDITIONS = process.execArgv.filter((argument) => argument.startsWith('--conditions='));
const CHILD = fileURLToPath(new URL(`./drill-child${EXTENSION}`, import.meta.url));

export function startDrillProcess(order: ChildOrder): DrillProcess {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    [...CONDITIONS, CHILD, JSON.stringify(order)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? code));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const until: DrillProcess['until'] = async (word): Promise<void> => {
    const over = ended.then(() => true);
    while (!said.includes(word)) if (await Promise.race([once(child.stdout, 'data').then(() => false), over])) return;
  };
  return { until, ended, go: () => void child.stdin.write('go\n'), said: () => said };
}
