/** Exit codes, as SURFACES pins them; the one map from a run or an error to a code. */
import { CaseOpsError, type ErrorCode, type RunView } from 'caseops';

export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  cancelled: 3,
  notAuthenticated: 4,
  refused: 5,
  notFound: 6,
  conflict: 7,
  unfinished: 8,
  waiting: 9,
  drillFailed: 11,
  noData: 12,
  unreachable: 69,
  timeout: 124,
  interrupted: 130,
} as const;

/** 0 completed; 8 failed, partial, degraded; 9 waiting for a person; 12 no_data; 5 refused; 3 cancelled. */
export function exitOfRun(run: Pick<RunView, 'state' | 'result' | 'needsHuman'>): number {
  if (run.state === 'blocked') return EXIT.waiting;
  switch (run.result) {
    case 'completed':
      return run.needsHuman ? EXIT.waiting : EXIT.ok;
    case 'failed':
    case 'partial':
    case 'degraded':
      return EXIT.unfinished;
    case 'no_data':
      return EXIT.noData;
    case 'refused':
      return EXIT.refused;
    case 'cancelled':
      return EXIT.cancelled;
    case null:
      return EXIT.timeout;
  }
}

const BY_CODE: Partial<Record<ErrorCode, number>> = {
  ERR_UNAUTHENTICATED: EXIT.notAuthenticated,
  ERR_NOT_FOUND: EXIT.notFound,
  ERR_SERVER_UNREACHABLE: EXIT.unreachable,
  ERR_USAGE: EXIT.usage,
  ERR_GOAL_TEXT: EXIT.usage,
  ERR_GOAL_TOO_LARGE: EXIT.usage,
};

export function exitOfError(error: unknown): number {
  if (!(error instanceof CaseOpsError)) return EXIT.error;
  const own = BY_CODE[error.code];
  if (own !== undefined) return own;
  if (error.kind === 'denied') return EXIT.refused;
  if (error.kind === 'conflict') return EXIT.conflict;
  if (error.kind === 'cancelled') return EXIT.cancelled;
  return EXIT.error;
}
