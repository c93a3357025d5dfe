/** Where a running server says how to reach it: `server.json` in the data directory, readable by its owner only. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ServerFile {
  readonly url: string;
  readonly pid: number;
  /** Bearer tokens of the development identities. */
  readonly tokens: Readonly<Record<string, string>>;
}

export function writeServerFile(directory: string, file: ServerFile): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'server.json'), `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
}

export function removeServerFile(directory: string, pid: number): void {
  if (readServerFile(directory)?.pid === pid) rmSync(join(directory, 'server.json'), { force: true });
}

/** The file, when it is there and its process lives. */
export function readServerFile(directory: string): ServerFile | undefined {
  try {
    const file = JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8')) as ServerFile;
    process.kill(file.pid, 0);
    return file;
  } catch {
    return undefined;
  }
}
