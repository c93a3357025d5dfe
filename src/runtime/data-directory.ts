/**
 * A runtime's data directory: made for its owner's eyes only, and held by one runtime at a time. The hold is a lock of the operating
 * system on a file of its own, so it ends with the process, however that ends; process ids, which are used again, play no part.
 */
import { CaseOpsError } from '#contracts/error.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const LOCK_FILE = 'runtime.lock';
const SQLITE_BUSY = 5;
/** `/proc` answers ENOENT to a recursive mkdir for ever. */
const NO_PLACE = /^\/proc(\/|$)/;

/** Makes the directory when it is missing and holds it until disposed; ERR_CONFIG when it cannot be written or another runtime has it. */
export function holdDataDirectory(directory: string): Disposable {
  try {
    if (NO_PLACE.test(directory)) throw new Error('nothing can be kept there');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const lock = new DatabaseSync(join(directory, LOCK_FILE), { timeout: 0 });
    try {
      lock.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      lock.close();
      throw error;
    }
    return { [Symbol.dispose]: () => lock.close() };
  } catch (cause) {
    throw new CaseOpsError('ERR_CONFIG', sentence(directory, cause), { at: 'runtime', cause });
  }
}

function sentence(directory: string, cause: unknown): string {
  if (cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY)
    return `Another runtime has the data directory ${directory}. End it, or choose another directory.`;
  const why = cause instanceof Error ? cause.message : String(cause);
  return `The data directory ${directory} cannot be used: ${why}. Make it writable, or choose another directory.`;
}
