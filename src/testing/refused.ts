/** A predicate for `assert.rejects` and `assert.throws`: a CaseOpsError with this code. */
import { CaseOpsError, type ErrorCode } from '#contracts/error.ts';

export function hasCode(code: ErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof CaseOpsError && error.code === code;
}
