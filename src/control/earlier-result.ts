/**
 * What an earlier run has settled, read back from its log: only if the log's chain holds from its first event, and the artifact reads back
 * under its digest. Whether it may be used is the kernel's to say. Source: DESIGN §3.1, decision 0020; INV-11.
 */
import type { RunRef } from '#contracts/command.ts';
import type { EarlierResult, ResultOrigin } from '#contracts/earlier-result.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { PlanStep } from '#contracts/plan.ts';
import { verifyChain } from '#kernel/chain.ts';
import { digestOf } from '#kernel/digest.ts';
import { foldRun } from '#kernel/evolve.ts';
import { plannedRun } from '#kernel/planned-run.ts';
import type { RunState, StepState } from '#kernel/run-state.ts';
import { readStoredArtifact } from '#kernel/stored-artifact.ts';
import { millisOf } from '#kernel/time.ts';
import type { Store } from '#ports/store.ts';

const PAGE_COUNT = 1_000;
/** Events of an earlier run at most; a longer one is not read for this, and its results are looked up again. */
const EVENT_COUNT_MAX = 20_000;

/**
 * The completed results of `ref` for the skill of `step`, each settled there and not itself taken over. None when the run does not exist, its
 * log does not verify, or nothing of it reads back.
 */
export async function earlierResults(store: Store, ref: RunRef, step: PlanStep): Promise<readonly EarlierResult[]> {
  const events = await verifiedEvents(store, ref);
  const state = foldRun(events);
  if (state === undefined) return [];
  const found: EarlierResult[] = [];
  for (const candidate of state.steps.values()) {
    const { team, skillId, skillVersion } = candidate.definition;
    if (team !== step.team || skillId !== step.skillId || skillVersion !== step.skillVersion) continue;
    const earlier = resultOf(state, candidate, events);
    if (earlier === undefined || !(await readsBack(store, ref, earlier.origin))) continue;
    found.push(earlier);
  }
  return found;
}

async function verifiedEvents(store: Store, ref: RunRef): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const page = await store.events(ref, events.at(-1)?.seq ?? 0, PAGE_COUNT);
    events.push(...page);
    if (page.length < PAGE_COUNT) break;
    if (events.length >= EVENT_COUNT_MAX) return [];
  }
  return verifyChain({ ref, seq: 0, hash: '' }, events).ok ? events : [];
}

function resultOf(state: RunState, step: StepState, events: readonly RunEvent[]): EarlierResult | undefined {
  const run = plannedRun(state);
  const origin = originOf(state, step, events);
  const { result } = step;
  if (run === undefined || origin === undefined || result === undefined) return undefined;
  const { team, actions } = step.definition;
  const { goal, accepted } = run;
  return {
    tenant: state.ref.tenant,
    requestedBy: goal.requestedBy,
    sessionId: goal.sessionId,
    purpose: goal.purpose,
    actions,
    team,
    workload: accepted.cards.find((card) => card.team === team)?.workload ?? '',
    teamPolicyDigest: accepted.teamPolicyDigests[team],
    result,
    origin,
  };
}

/** Undefined for a step that is not settled here first-hand with an accepted artifact. */
function originOf(state: RunState, step: StepState, events: readonly RunEvent[]): ResultOrigin | undefined {
  const { definition, result, artifactId, skill } = step;
  const { stepId } = definition;
  if (result?.status !== 'completed' || result.artifactRef === undefined || artifactId === undefined) return undefined;
  const settled = events.find((event) => event.kind === 'step.settled' && event.body.result.stepId === stepId);
  const dispatched = events.findLast(
    (event): event is Extract<RunEvent, { kind: 'step.dispatched' }> =>
      event.kind === 'step.dispatched' && event.body.stepId === stepId,
  );
  const [oldest] = result.evidence.map(({ observedAt }) => observedAt).toSorted((a, b) => millisOf(a) - millisOf(b));
  if (step.origin !== undefined || settled === undefined || dispatched === undefined || oldest === undefined)
    return undefined;
  return {
    runId: state.ref.runId,
    stepId,
    planVersion: result.planVersion,
    seq: settled.seq,
    hash: settled.hash,
    artifactId,
    artifactRef: result.artifactRef,
    resultHash: result.resultHash,
    inputDigest: dispatched.body.inputDigest,
    contractDigest: digestOf(skill),
    observedAt: oldest,
  };
}

async function readsBack(store: Store, { tenant }: RunRef, { artifactRef }: ResultOrigin): Promise<boolean> {
  return readStoredArtifact(await store.artifact(tenant, artifactRef), artifactRef).ok;
}
