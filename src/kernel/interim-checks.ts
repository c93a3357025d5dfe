/** The least that an artifact and an answer must hold; replaced by artifact-acceptance.ts and claim-binding.ts. Fails closed. */
import type { Answer } from '#contracts/answer.ts';
import type { Acceptance, Artifact } from '#contracts/artifact.ts';
import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { Evidence } from '#contracts/evidence.ts';
import { digestOf } from './digest.ts';
import { failure } from './failure.ts';
import type { AttemptState, RunState, StepState } from './run-state.ts';
import { checkSchema } from './schema-check.ts';

/** Binding, digest, producer and schema. */
export function acceptArtifact(
  artifact: Artifact,
  expected: { state: RunState; step: StepState; attempt: AttemptState; card: CapabilityCard | undefined },
): Acceptance {
  const { step, attempt, card } = expected;
  const { binding, contentDigest, ...rest } = artifact;
  const sameDispatch = binding.dispatchId === attempt.dispatchId && binding.leaseId === attempt.leaseId;
  if (!sameDispatch || binding.taskId !== attempt.taskId || binding.stepId !== step.definition.stepId)
    return rejected(failure('ERR_ARTIFACT_BINDING', `Artifact ${artifact.artifactId} answers another dispatch.`));
  if (digestOf({ binding, ...rest }) !== contentDigest)
    return rejected(failure('ERR_ARTIFACT_DIGEST', `Artifact ${artifact.artifactId} is not what its digest says.`));
  if (card !== undefined && artifact.producer.workload !== card.workload)
    return rejected(failure('ERR_ARTIFACT_PRODUCER', `Artifact ${artifact.artifactId} is of another producer.`));
  const issues = artifact.data === undefined ? [] : checkSchema(step.skill.artifact, artifact.data);
  if (issues.length === 0) return { verdict: 'accepted' };
  return rejected(failure('ERR_ARTIFACT_SCHEMA', `Artifact ${artifact.artifactId} does not fit its schema.`));
}

function rejected(error: ErrorRecord): Acceptance {
  return { verdict: 'rejected', error };
}

/** Each claim rests on evidence that a settled step or a proof bears. */
export function checkAnswer(
  answer: Answer,
  against: { state: RunState; records: Readonly<Record<string, unknown>>; proofEvidence: readonly Evidence[] },
): readonly ErrorRecord[] {
  const settled = [...against.state.steps.values()].flatMap(({ result }) => result?.evidence ?? []);
  const known = new Set<string>([...settled, ...against.proofEvidence].map(({ evidenceId }) => evidenceId));
  return answer.claims
    .filter(({ evidenceIds }) => evidenceIds.length === 0 || evidenceIds.some((id) => !known.has(id)))
    .map(({ claimId }) => failure('ERR_CLAIM_NO_EVIDENCE', `Claim ${claimId} does not rest on evidence of this run.`));
}
