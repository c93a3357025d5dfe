/** Taking what came back for a step: accepted, refused, or recorded only. INV-01, INV-05, INV-08. Source: DESIGN §3.6, §3.7. */
import { ARTIFACT_RECORD_BYTES_MAX, type Acceptance } from '#contracts/artifact.ts';
import type { CommandOf } from '#contracts/command.ts';
import type { EventBody } from '#contracts/event.ts';
import type { Digest } from '#contracts/ids.ts';
import type { StepResult } from '#contracts/step-result.ts';
import { acceptArtifact } from './artifact-acceptance.ts';
import { overspent } from './budget.ts';
import { conflictOf } from './conflict-block.ts';
import { decided, type Decision } from './decision.ts';
import { digestOf } from './digest.ts';
import { closeOpenSteps, conclude, end, failAttempt, openDraft, releaseBudget, settle } from './draft.ts';
import { failure } from './failure.ts';
import { type Arrival, artifactResultHash, classifyArrival, recordArrival } from './reduce-result.ts';
import { checkOwnership } from './result-ownership.ts';
import type { AttemptState, RunState, StepState } from './run-state.ts';

type Deliver = CommandOf<'deliver'>;
type ArrivalOf<K extends Arrival['kind']> = Extract<Arrival, { readonly kind: K }>;

/**
 * Takes a delivered artifact. What is stale, late or a repetition is recorded and changes nothing. An accepted one settles the step
 * and unlocks or skips what waited for it; a refused one fails the attempt. A second, different result of a settled step is a
 * conflict: the run is blocked or fails as its join says, and the first result stands meanwhile (never last-writer-wins).
 */
export function decideDeliver(state: RunState, command: Deliver): Decision {
  const hash = artifactResultHash(command.artifact);
  const arrival = classifyArrival(state, command, hash);
  if (arrival.kind === 'current') return takeArtifact(state, command, { arrival, hash });
  if (arrival.kind === 'contradicting') return takeContradiction(state, command, { arrival, hash });
  return decided(recordArrival(arrival.kind, command, { hash, reason: arrival.reason }));
}

/** Takes the end of an attempt that delivered nothing; one that is over already is recorded only. */
export function decideFail(state: RunState, command: CommandOf<'fail'>): Decision {
  const arrival = classifyArrival(state, command, undefined);
  if (arrival.kind !== 'current') {
    const kind = arrival.kind === 'stale' ? 'stale' : 'late';
    return decided(recordArrival(kind, command, { hash: undefined, reason: arrival.reason }));
  }
  const draft = openDraft(state, arrival.run, command.at);
  const { error, usage } = command;
  failAttempt(draft, arrival, { error, used: usage, status: error.kind === 'cancelled' ? 'cancelled' : 'failed' });
  return conclude(draft);
}

function takeArtifact(
  state: RunState,
  command: Deliver,
  by: { readonly arrival: ArrivalOf<'current'>; readonly hash: Digest },
): Decision {
  const { run, step, attempt } = by.arrival;
  const { artifact, artifactRef, sizeBytes, usage } = command;
  const draft = openDraft(state, run, command.at);
  const head = headOf(command);
  const { stepId, attempt: number, planVersion, dispatchId, taskId, contextId } = head;
  // The artifact may overtake the word that its task has begun.
  const started = attempt.taskId === undefined ? { ...attempt, taskId, contextId } : attempt;
  if (started !== attempt)
    draft.events.push({
      kind: 'step.started',
      body: { stepId, attempt: number, planVersion, dispatchId, taskId, contextId },
    });
  draft.events.push({ kind: 'artifact.received', body: { ...head, sizeBytes, artifactRef } });
  const verdict = judge(state, command, { step, attempt: started });
  if (verdict.verdict === 'accepted') {
    const { schemaId, evidence } = artifact;
    draft.events.push({ kind: 'artifact.accepted', body: { ...head, schemaId, evidence } });
    releaseBudget(draft, step, usage);
    const result = resultOf(command, by.hash);
    settle(draft, step, { result: { ...result, artifactRef }, dispatchId, toolCalls: artifact.toolCalls });
    return conclude(draft);
  }
  draft.events.push({ kind: `artifact.${verdict.verdict}`, body: { ...head, error: verdict.error } });
  failAttempt(draft, { step, attempt }, { error: verdict.error, used: usage, status: 'failed' });
  return conclude(draft);
}

/** Only what could have been accepted contradicts anything: else anyone could block a run with rubbish. */
function takeContradiction(
  state: RunState,
  command: Deliver,
  by: { readonly arrival: ArrivalOf<'contradicting'>; readonly hash: Digest },
): Decision {
  const { run, step, attempt, reason } = by.arrival;
  const verdict = judge(state, command, { step, attempt });
  if (verdict.verdict !== 'accepted')
    return decided(
      recordArrival('late', command, { hash: by.hash, reason: 'It is not acceptable, and the step is settled.' }),
    );
  const draft = openDraft(state, run, command.at);
  const record = recordArrival('conflicted', command, { hash: by.hash, reason });
  const { artifact, artifactRef, sizeBytes } = command;
  const head = headOf(command);
  const rival = {
    result: { ...resultOf(command, by.hash), artifactRef },
    toolCalls: artifact.toolCalls,
    artifact: { ...head, schemaId: artifact.schemaId },
  };
  draft.events.push(
    { kind: 'artifact.received', body: { ...head, sizeBytes } },
    { kind: 'result.conflicted', body: { ...record.body, rival } },
  );
  const { stepId } = step.definition;
  const { join } = run.accepted.plan;
  if (join.onConflict === 'failed') {
    closeOpenSteps(draft, 'Two results of one step contradict each other.');
    end(draft, {
      result: 'failed',
      needsHuman: true,
      reason: `Step ${stepId} gave two results that contradict each other.`,
    });
  } else if (state.phase !== 'blocked') {
    draft.events.push({ kind: 'run.blocked', body: conflictOf(state, stepId, [by.arrival.settled, by.hash]) });
  }
  return { ok: true, events: draft.events };
}

function judge(
  state: RunState,
  command: Deliver,
  at: { readonly step: StepState; readonly attempt: AttemptState },
): Acceptance {
  const { step, attempt } = at;
  const { artifact, usage } = command;
  const { toolCallCountMax, modelTokenCountMax } = step.definition.budget;
  if (overspent({ toolCallCount: toolCallCountMax, modelTokenCount: modelTokenCountMax }, usage))
    return {
      verdict: 'rejected',
      error: failure('ERR_BUDGET', `Step ${command.stepId} used more than was reserved for it.`),
    };
  const foreign = checkOwnership(artifact, step);
  if (foreign !== undefined) return { verdict: 'quarantined', error: foreign };
  const card = state.accepted?.cards.find(({ team }) => team === step.definition.team);
  return acceptArtifact(artifact, { state, step, attempt, card });
}

function headOf(command: Deliver): Omit<EventBody<'artifact.received'>, 'sizeBytes'> {
  const { stepId, attempt, planVersion, dispatchId, artifact } = command;
  const { taskId, contextId, leaseId } = artifact.binding;
  const { artifactId, contentDigest, producer } = artifact;
  return {
    stepId,
    attempt,
    planVersion,
    artifactId,
    contentDigest,
    dispatchId,
    taskId,
    contextId,
    leaseId,
    producer: producer.workload,
  };
}

function resultOf(command: Deliver, hash: Digest): StepResult {
  const { stepId, planVersion, attempt, artifact, usage } = command;
  const { status, data, evidence, missing, errors, producer, skillVersion } = artifact;
  const result = {
    stepId,
    planVersion,
    attempt,
    status,
    evidence,
    missing,
    errors,
    usage,
    producer: producer.workload,
    contractVersion: skillVersion,
    resultHash: hash,
  };
  if (data === undefined) return result;
  return isLarge(command) ? { ...result, dataDigest: digestOf(data) } : { ...result, data };
}

/**
 * Whether the artifact's data goes by digest only: then no other step can be given a value out of it. Most large artifacts are large by
 * their records, which no event holds.
 */
function isLarge({ artifact, sizeBytes }: Deliver): boolean {
  return sizeBytes > ARTIFACT_RECORD_BYTES_MAX && JSON.stringify(artifact.data).length > ARTIFACT_RECORD_BYTES_MAX;
}
