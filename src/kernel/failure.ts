/** A failure as the kernel returns it: a value, since the kernel does not throw. Source: STYLE "Errors". */
import { ERROR_CODES, type ErrorCode, type ErrorRecord } from '#contracts/error.ts';

export type FailureDetail = NonNullable<ErrorRecord['detail']>;

const MESSAGE_LENGTH_MAX = 2_000;

/** The record of a failure found by the kernel; its kind follows from the code. `message` is cut at 2,000 characters. */
export function failure(code: ErrorCode, message: string, detail?: FailureDetail): ErrorRecord {
  const kind = ERROR_CODES[code];
  const record = {
    code,
    kind,
    message: message.slice(0, MESSAGE_LENGTH_MAX),
    at: 'kernel',
    retryable: kind === 'unavailable',
  };
  return detail === undefined ? record : { ...record, detail };
}
