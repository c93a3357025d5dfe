/** Peers in processes of their own, installed beside their scripts and nowhere else. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Measured } from '../measure.ts';

const HERE = join(import.meta.dirname, '../peers');

export interface Peer extends AsyncDisposable {
  readonly measure: (inFlight: number, seconds: number) => Promise<Measured>;
}

/** Exactly what the lock says. */
export function installPeers(): void {
  if (existsSync(join(HERE, 'node_modules'))) return;
  console.error('Installing the peers beside their scripts …');
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: HERE, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Starts a peer on a database of its own; resolves when it is ready. */
export async function startPeer(script: string, url: string): Promise<Peer> {
  const child = spawn(process.execPath, [join(HERE, script), url], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const next = await lines.next();
    if (next.done === true) throw new Error(`${script} ended before it answered.`);
    return next.value;
  };
  while ((await line()) !== 'ready') continue;
  return {
    measure: async (inFlight, seconds) => {
      child.stdin.write(`${JSON.stringify({ inFlight, seconds })}\n`);
      return JSON.parse(await line()) as Measured;
    },
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await ended;
    },
  };
}
