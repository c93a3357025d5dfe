import { CaseOpsError, type ErrorRecord } from '#contracts/error.ts';

/** A refusal of the kernel or the store as it is thrown to who asked. */
export function errorOf({ code, message, at, retryable, detail }: ErrorRecord): CaseOpsError {
  return new CaseOpsError(code, message, { at, retryable, detail: detail ?? {} });
}
