/** What Postgres or the way to it says, as a sentence with the database's name and the next thing to do; never with a password. */
import { CaseOpsError } from '#contracts/error.ts';

/** SQLSTATE, or its class as the first two characters; and the operating system's codes. */
const ADVICE: Readonly<Record<string, string>> = {
  '28P01': 'does not take the password; check the secret that the url comes from',
  '28000': 'does not let this user in; check the user of the url and pg_hba.conf',
  '3D000': 'does not exist on that server; create it (createdb) or name another in the url',
  '42501': 'refuses this user a right; run `caseops db migrate` as the owner of the database, or grant it',
  '42P01': 'lacks a table; run `caseops db migrate`',
  '42883': 'lacks a function; run `caseops db migrate`',
  '53100': 'has no room left; free space on its disk, then try again',
  '53300': 'has too many connections; raise max_connections or start fewer processes',
  '25006': 'takes no writes, as a standby does; name the primary in the url',
  '57P01': 'is being shut down; start it again',
  '57P02': 'is being shut down; start it again',
  '57P03': 'is starting up or shutting down; try again in a moment',
  XX001: 'is damaged; restore it from a backup',
  XX002: 'has a damaged index; run REINDEX, or restore it from a backup',
  ECONNREFUSED: 'does not answer; start the server or name another in the url',
  ECONNRESET: 'cut the connection; see its log',
  ENOTFOUND: 'has a host name that nobody knows; check the url',
  ETIMEDOUT: 'does not answer; check the network and the url',
};

/** The code of a failure: an SQLSTATE or one of the operating system. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** True when the connection or the server went away: what was sent may have been done or not. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof CaseOpsError) return false;
  const code = codeOf(error);
  // The driver gives no code to what it finds out itself: the connection ended, or is ended already.
  if (code === undefined) return /connection|client (was closed|has encountered)|not queryable/i.test(error.message);
  return /^(08|57P0)/.test(code) || /^E[A-Z]+$/.test(code);
}

/** ERR_STORE for a failure of the database; a CaseOpsError passes unchanged. */
export function storeError(error: unknown, name: string): CaseOpsError {
  if (error instanceof CaseOpsError) return error;
  const code = codeOf(error);
  const advice = ADVICE[code ?? ''] ?? (isConnectionLoss(error) ? 'cut the connection; see its log' : 'failed');
  const reason = error instanceof Error ? reasonOf(error) : typeof error;
  return new CaseOpsError('ERR_STORE', `The store ${name} ${advice} (${reason}).`, {
    at: 'store',
    cause: error,
    detail: code === undefined ? { store: name } : { store: name, postgresCode: code },
    retryable: isConnectionLoss(error) || code === '53100' || code === '53300',
  });
}

function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  return error.message;
}
