/**
 * What an arriving result or failure is to the run: the one it waits for, or one that must change nothing but its own record. INV-05,
 * INV-08. Source: DESIGN §3.7.
 */
import type { Artifact } from '#contracts/artifact.ts';
import type { CommandOf } from '#contracts/command.ts';
import type { EventBody } from '#contracts/event.ts';
import type { Digest } from '#contracts/ids.ts';
import { joinDone } from './join.ts';
import { plannedRun, type PlannedRun } from './planned-run.ts';
import { resultHash } from './result-hash.ts';
import type { AttemptState, RunState, StepState } from './run-state.ts';

/** Where a result says it belongs. */
export type Address = Pick<CommandOf<'fail'>, 'stepId' | 'planVersion' | 'attempt' | 'dispatchId'>;

interface Place {
  readonly run: PlannedRun;
  readonly step: StepState;
  readonly attempt: AttemptState;
}

export type Arrival =
  | ({ readonly kind: 'current' } & Place)
  /** The step has an accepted result, and this is another one. */
  | ({ readonly kind: 'contradicting'; readonly reason: string; readonly settled: Digest } & Place)
  | { readonly kind: 'stale' | 'late' | 'duplicate'; readonly reason: string };

/** Tells what `address` is to the run; `hash` is the arriving result's identity, absent for a failure. */
export function classifyArrival(state: RunState, address: Address, hash: Digest | undefined): Arrival {
  const run = plannedRun(state);
  const current = run?.accepted.plan.version;
  if (run === undefined || current !== address.planVersion)
    return {
      kind: 'stale',
      reason: `It is of plan version ${address.planVersion}; the run has ${current ?? 'no plan'}.`,
    };
  const step = state.steps.get(address.stepId);
  const attempt = step?.attempts[address.attempt - 1];
  if (step === undefined || attempt === undefined || attempt.dispatchId !== address.dispatchId)
    return { kind: 'stale', reason: `The plan has no such dispatch of step ${address.stepId}.` };
  if (state.phase === 'ended') return { kind: 'late', reason: 'The run has ended.' };
  if (state.phase === 'cancelling') return { kind: 'late', reason: 'Cancellation was requested.' };
  if (joinDone(run.accepted.plan.join, state)) return { kind: 'late', reason: 'The join is closed.' };
  const accepted = step.result?.artifactRef === undefined ? undefined : step.result.resultHash;
  if (accepted !== undefined && hash !== undefined) {
    if (accepted === hash) return { kind: 'duplicate', reason: 'The step is settled with this very result.' };
    return {
      kind: 'contradicting',
      reason: `The step is settled with result ${accepted}.`,
      settled: accepted,
      run,
      step,
      attempt,
    };
  }
  if (step.result !== undefined || attempt.error !== undefined)
    return { kind: 'late', reason: 'The attempt was over already.' };
  return { kind: 'current', run, step, attempt };
}

/** The identity of what an artifact delivers. */
export function artifactResultHash(artifact: Artifact): Digest {
  const { status, data, evidence, missing, skillVersion } = artifact;
  return resultHash({ status, data, evidence, missing, contractVersion: skillVersion });
}

/** The record of an arrival that changes nothing. */
export function recordArrival(
  kind: 'stale' | 'late' | 'duplicate' | 'conflicted',
  address: Address,
  found: { readonly hash: Digest | undefined; readonly reason: string },
): { readonly kind: `result.${typeof kind}`; readonly body: EventBody<'result.late'> } {
  const { stepId, planVersion, attempt, dispatchId } = address;
  const open = { stepId, planVersion, attempt, dispatchId, reason: found.reason };
  const body: EventBody<'result.late'> = found.hash === undefined ? open : { ...open, resultHash: found.hash };
  return { kind: `result.${kind}`, body };
}
