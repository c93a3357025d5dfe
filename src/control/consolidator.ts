/**
 * Composes the answer from accepted results and their observed records only, as stored, with the proofs of what did not happen. It adds no
 * word of its own: the kernel renders the goal's sentences, and checks the answer again when it takes it. Source: DESIGN §3.9; INV-03.
 */
import type { Artifact } from '#contracts/artifact.ts';
import type { RunRef } from '#contracts/command.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { EvidenceId } from '#contracts/ids.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import { proveAbsence, type AbsenceAnswer } from '#kernel/absence-proof.ts';
import { composeAnswer } from '#kernel/claim-binding.ts';
import { isEffectStep } from '#kernel/effect-state.ts';
import { joinOutcome } from '#kernel/join.ts';
import { awaitsAnswer } from '#kernel/next.ts';
import type { RunState } from '#kernel/run-state.ts';
import { readStoredEffect } from '#kernel/stored-effect.ts';
import { readStoredArtifact } from '#kernel/stored-artifact.ts';
import type { Store } from '#ports/store.ts';
import { phrasedAnswer } from './phrased-answer.ts';
import type { RunContext } from './run-context.ts';

/**
 * Delivers `compose` once the join is decided; nothing when it is not. A record that does not read back under its digest is left out, so that
 * the sentences that rest on it are not said.
 */
export async function composeAnswerOf(
  context: Pick<RunContext, 'driver' | 'store' | 'clock' | 'ids' | 'workload' | 'phraser'>,
  state: RunState,
  signal: AbortSignal,
): Promise<void> {
  if (!awaitsAnswer(state)) return;
  const observed = await observedRecords(context.store, state);
  const absence = await absenceOf(context, state);
  const records = { ...observed, ...absence.records };
  const answer = composeAnswer({
    state,
    records,
    proofs: absence.proofs,
    proofEvidence: absence.evidence,
    result: joinOutcome(state).result,
    needsHuman: state.needsHuman,
    claimId: () => context.ids.next('clm'),
  });
  const phrased = await phrasedAnswer(context, answer, { state, signal });
  await context.driver.deliver(state.ref, {
    kind: 'compose',
    at: context.clock.now(),
    actor: context.workload,
    answer,
    records,
    proofEvidence: absence.evidence,
    ...(phrased === undefined ? {} : { phrased }),
  });
}

/** Of every settled step, the records of its accepted artifact, or of its effect as it was read back, by evidence id. */
async function observedRecords(store: Store, state: RunState): Promise<Artifact['records']> {
  const found = await Promise.all(
    [...state.steps.values()].map(async (step) => {
      const ref = step.result?.artifactRef;
      if (ref === undefined) return [];
      const bytes = await store.artifact(state.ref.tenant, ref);
      if (isEffectStep(step)) {
        const kept = readStoredEffect(bytes, ref);
        return kept === undefined ? [] : [[kept.evidence.evidenceId, kept.record] as const];
      }
      const read = readStoredArtifact(bytes, ref);
      return read.ok ? Object.entries(read.artifact.records) : [];
    }),
  );
  return Object.fromEntries(found.flat());
}

/** What the run's own ledgers say: every lease, every dispatched skill, every effect. */
async function absenceOf(
  context: Pick<RunContext, 'store' | 'clock' | 'ids'>,
  state: RunState,
): Promise<Pick<AbsenceAnswer, 'proofs' | 'evidence' | 'records'>> {
  const { goal, ref } = state;
  if (goal === undefined) return { proofs: {}, evidence: [], records: {} };
  const ledgers = await readLedgers(context.store, ref);
  // What cannot be read shows nothing: the sentence is not said, and the rest of the answer stands.
  if (ledgers === undefined) return { proofs: {}, evidence: [], records: {} };
  const { leases, effects } = ledgers;
  const ids = new Map<string, EvidenceId>();
  return proveAbsence({
    goal,
    runId: ref.runId,
    leases,
    effects,
    dispatched: [...state.steps.values()].flatMap(({ attempts, skill }) => attempts.map(() => skill)),
    at: context.clock.now(),
    evidenceId: (anchor) => {
      const known = ids.get(anchor) ?? context.ids.next('ev');
      ids.set(anchor, known);
      return known;
    },
  });
}

async function readLedgers(
  store: Store,
  { tenant, runId }: RunRef,
): Promise<{ readonly leases: readonly LeaseRow[]; readonly effects: readonly EffectRow[] } | undefined> {
  try {
    const [leases, effects] = await Promise.all([store.leasesOfRun(tenant, runId), store.effects(tenant, runId)]);
    return { leases, effects };
  } catch (error) {
    // A row that does not read back is final; a store that is away is asked again by the job's next try.
    if (error instanceof CaseOpsError && error.code === 'ERR_STORE' && !error.retryable) return undefined;
    throw error;
  }
}
