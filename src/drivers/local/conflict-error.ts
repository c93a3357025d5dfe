/** What a refused commit means to who delivered the command. */
import type { RunRef } from '#contracts/command.ts';
import { ERROR_CODES, type ErrorCode, type ErrorRecord } from '#contracts/error.ts';
import type { CommitOutcome, RecordWrite } from '#ports/store.ts';

type Conflict = Exclude<CommitOutcome, { readonly ok: true }>;

const CODES: Readonly<Record<RecordWrite['table'], ErrorCode>> = {
  consumption: 'ERR_LEASE_CONSUMED',
  idempotency: 'ERR_IDEMPOTENCY_KEY_REUSED',
  lease: 'ERR_STATE',
  artifact: 'ERR_STATE',
  effect: 'ERR_EFFECT_LOCKED',
  quota: 'ERR_QUOTA',
};

/**
 * For a record whose key was taken, `detail` has the run that holds it (when known) as `runId`, and `sameDigest`: whether it was the
 * same request, so that its sender may be given the first answer again.
 */
export function conflictError(
  { tenant, runId }: RunRef,
  conflict: Conflict,
  records: readonly RecordWrite[],
): ErrorRecord {
  const run = `${tenant}/${runId}`;
  switch (conflict.conflict) {
    case 'sequence':
      return record('ERR_SEQUENCE', `Run ${run} was moved on to event ${conflict.actualSeq} by another process.`);
    case 'fence':
      return record('ERR_FENCE', `Run ${run} was taken over by another process under fence ${conflict.actualFence}.`);
    case 'record': {
      const { table, key, requestDigest } = conflict;
      if (table === 'quota') return quotaError(run, conflict, records);
      const sameDigest =
        requestDigest !== undefined &&
        records.some((one) => one.table === table && 'requestDigest' in one && one.requestDigest === requestDigest);
      const by = conflict.runId === undefined ? 'before' : `by run ${conflict.runId}`;
      const same = sameDigest ? 'the same request' : 'another request';
      const code = table === 'effect' && key.startsWith('key ') ? 'ERR_IDEMPOTENCY_KEY_REUSED' : CODES[table];
      return {
        ...record(code, `The ${table} ${key}, needed by run ${run}, was used ${by} for ${same}.`),
        detail: { table, sameDigest, ...(conflict.runId === undefined ? {} : { runId: conflict.runId }) },
      };
    }
  }
}

/** The day has less left than was asked for: `detail` has scope, day, `left` and `asked`. */
function quotaError(
  run: string,
  { key, left = 0 }: Extract<Conflict, { readonly conflict: 'record' }>,
  records: readonly RecordWrite[],
): ErrorRecord {
  const asked = records.find(
    (one) => one.table === 'quota' && `${one.tenant} ${one.scope} ${one.day} ${one.key}` === key,
  );
  if (asked?.table !== 'quota') return record('ERR_QUOTA', `Run ${run} asked for more than is left of ${key}.`);
  const { tenant, scope, day, amount } = asked;
  const message = `Run ${run} asked for ${amount} of the quota ${scope} of tenant ${tenant} for ${day}; ${left} are left.`;
  return { ...record('ERR_QUOTA', message), detail: { table: 'quota', scope, day, left, asked: amount } };
}

/** The run belongs to another live process. */
export function heldError({ tenant, runId }: RunRef): ErrorRecord {
  return { ...record('ERR_FENCE', `Run ${tenant}/${runId} is held by another live process.`), retryable: true };
}

/** This process takes no new work. */
export function closingError({ tenant, runId }: RunRef): ErrorRecord {
  return record('ERR_CANCELLED', `This process is shutting down and takes no command of run ${tenant}/${runId}.`);
}

function record(code: ErrorCode, message: string): ErrorRecord {
  return { code, kind: ERROR_CODES[code], message, at: 'driver', retryable: false };
}
