/** Where a running server says how to reach it: `server.json` in the data directory, readable by its owner only. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ServerFile {
  readonly url: string;
  readonly pid: number;
  /** Bearer tokens of the development identities. */
  readonly tokens: Readonly<Record<string, string>>;
}

const PROBE_MS_MAX = 2_000;

export function writeServerFile(directory: string, file: ServerFile): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, 'server.json'), `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
}

export function removeServerFile(directory: string, pid: number): void {
  if (readServerFile(directory)?.pid === pid) rmSync(join(directory, 'server.json'), { force: true });
}

/** The server of a directory, when one answers: a process id alone may belong to another program by now. */
export async function findServer(directory: string): Promise<ServerFile | undefined> {
  const file = readServerFile(directory);
  if (file === undefined) return undefined;
  try {
    await fetch(`${file.url}/health/live`, { signal: AbortSignal.timeout(PROBE_MS_MAX) });
  } catch (error) {
    // A server that is slow to answer is still one; only a port that nobody has tells that it is gone.
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED') return undefined;
  }
  return file;
}

/** The file, when it is there and a process with its id lives. */
function readServerFile(directory: string): ServerFile | undefined {
  try {
    const file = JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8')) as ServerFile;
    process.kill(file.pid, 0);
    return file;
  } catch {
    return undefined;
  }
}
