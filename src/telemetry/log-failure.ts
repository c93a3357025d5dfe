/** Failures that no caller is told of, as log lines. */
import type { RunRef } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { Telemetry } from '#ports/telemetry.ts';

/** At `warn`, when it may go better the next time; at `error` otherwise. */
export function logFailure(
  telemetry: Telemetry,
  { code, kind, message, at, retryable }: ErrorRecord,
  of: { readonly ref?: RunRef; readonly jobId?: string },
): void {
  telemetry.log(retryable ? 'warn' : 'error', message, {
    code,
    kind,
    at,
    retryable,
    tenant: of.ref?.tenant,
    runId: of.ref?.runId,
    jobId: of.jobId,
  });
}
