/** Replaces a file so that a reader, or a machine that lost its power, sees the old content or the new, never half of one. */
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Whether the new content is in place; when it is not, nothing changed. */
export type Replaced =
  | { readonly replaced: true; readonly durable: boolean }
  | { readonly replaced: false; readonly reason: string };

/** Writes beside the file, syncs, renames, syncs the directory. Callers hold the file's lock: the name beside it is fixed. */
export function replaceFile(path: string, text: string): Replaced {
  const beside = `${path}.tmp`;
  try {
    const file = openSync(beside, 'w', 0o644);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
  } catch (error) {
    return { replaced: false, reason: codeOf(error) };
  }
  return { replaced: true, durable: syncDirectory(dirname(path)) };
}

function syncDirectory(path: string): boolean {
  try {
    const directory = openSync(path, 'r');
    try {
      fsyncSync(directory);
      return true;
    } finally {
      closeSync(directory);
    }
  } catch {
    return false;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown failure';
}
