/** What SQLite says, as a sentence with the path and the next thing to do. */
import { CaseOpsError } from '#contracts/error.ts';

/** SQLite's primary result codes (the low byte of an extended one). https://www.sqlite.org/rescode.html */
const ADVICE: Readonly<Record<number, string>> = {
  5: 'is locked by another process; stop the other process or wait until it has finished',
  8: 'cannot be written; make the file and its directory writable for this user or name another path',
  10: 'could not be read or written by the operating system; check the disk and its file system, then start again',
  11: 'is damaged; restore it from a backup, or move it away to start with an empty one',
  13: 'has no room left; free space on the disk or raise its size limit, then try again',
  14: 'cannot be opened; check that its directory exists and that this user may write there',
  26: 'is not a database; name another path or move the file away',
};

const CONSTRAINT = 19;

interface SqliteFailure extends Error {
  readonly errcode: number;
}

function isSqliteFailure(error: unknown): error is SqliteFailure {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}

/** ERR_STORE for a failure of the database at `path`; a CaseOpsError passes unchanged. */
export function storeError(error: unknown, path: string): CaseOpsError {
  if (error instanceof CaseOpsError) return error;
  const errcode = isSqliteFailure(error) ? error.errcode : undefined;
  const advice = errcode === undefined ? undefined : ADVICE[errcode & 0xff];
  const reason = error instanceof Error ? error.message : typeof error;
  return new CaseOpsError('ERR_STORE', `The store ${path} ${advice ?? 'failed'} (${reason}).`, {
    at: 'store',
    cause: error,
    detail: errcode === undefined ? { path } : { path, sqliteCode: errcode },
  });
}

/** True when one unit of a batch is at fault and not the database: its neighbours can still be written. */
export function isOfOneUnit(error: unknown): boolean {
  return error instanceof CaseOpsError || (isSqliteFailure(error) && (error.errcode & 0xff) === CONSTRAINT);
}
