/**
 * A lock between processes that nobody has to clean up: an exclusive SQLite transaction on a file beside the locked one. The operating
 * system lets go of it when its holder dies, which a file that merely exists does not do.
 */
import { CaseOpsError } from '#contracts/error.ts';
import { DatabaseSync } from 'node:sqlite';

export interface LockFileOptions {
  /** Of the lock itself, such as `flags.json.lock`. Created when missing; its directory exists. */
  readonly path: string;
  /** How long another process's turn is waited for. */
  readonly waitMsMax: number;
}

/**
 * Runs `work` while no other process is inside. Work is synchronous, so nothing of this process comes between either. Throws
 * ERR_STORE (retryable) when the lock was not free in time; what work throws passes through.
 */
export function underLock<T>({ path, waitMsMax }: LockFileOptions, work: () => T): T {
  const lock = new DatabaseSync(path, { timeout: waitMsMax });
  try {
    take(lock, path);
    return work();
  } finally {
    lock.close();
  }
}

function take(lock: DatabaseSync, path: string): void {
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    throw new CaseOpsError('ERR_STORE', `The lock ${path} was not free in time.`, {
      at: 'effects',
      detail: { path },
      retryable: true,
      cause: error,
    });
  }
}
