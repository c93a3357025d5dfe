/**
 * Acceptance of an artifact: a completed task is the producer's statement; whether we take it is ours. Rejected: it breaks the skill's
 * contract. Quarantined: its binding, producer, digest, provenance or size does not hold, or it carries members nobody asked for; a
 * person may look at it, nothing else does. The first failure, cheapest first, is the verdict. Source: DESIGN §3.6, LAB 83–97; INV-01.
 */
import { ARTIFACT_BYTES_MAX, type Acceptance, type Artifact } from '#contracts/artifact.ts';
import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import type { ErrorCode, ErrorRecord } from '#contracts/error.ts';
import type { Digest } from '#contracts/ids.ts';
import type { StepStatus } from '#contracts/step-result.ts';
import { checkEvidence, checkToolCalls } from './artifact-provenance.ts';
import { canonicalText } from './canonical.ts';
import { digestOf, digestOfBytes } from './digest.ts';
import { failure } from './failure.ts';
import type { AttemptState, RunState, StepState } from './run-state.ts';
import { checkSchema } from './schema-check.ts';

export interface ExpectedArtifact {
  readonly state: RunState;
  readonly step: StepState;
  /** The attempt that the artifact says it answers. */
  readonly attempt: AttemptState;
  /** The producing team's card as the accepted plan froze it; without one nothing is accepted. */
  readonly card: CapabilityCard | undefined;
}

/** Over everything but the digest itself. */
export function artifactDigest(artifact: Omit<Artifact, 'contentDigest'>): Digest {
  return digestOf(artifact);
}

export function acceptArtifact(artifact: Artifact, expected: ExpectedArtifact): Acceptance {
  for (const { verdict, check } of CHECKS) {
    const error = check(artifact, expected);
    if (error !== undefined) return { verdict, error };
  }
  return { verdict: 'accepted' };
}

type ArtifactCheck = (artifact: Artifact, expected: ExpectedArtifact) => ErrorRecord | undefined;

const CHECKS: readonly { readonly verdict: 'rejected' | 'quarantined'; readonly check: ArtifactCheck }[] = [
  { verdict: 'quarantined', check: checkBinding },
  { verdict: 'quarantined', check: checkProducer },
  { verdict: 'quarantined', check: checkContent },
  { verdict: 'rejected', check: checkContract },
  { verdict: 'rejected', check: checkPresence },
  { verdict: 'quarantined', check: checkMembers },
  { verdict: 'rejected', check: checkData },
  { verdict: 'quarantined', check: checkToolCalls },
  { verdict: 'quarantined', check: checkEvidence },
];

function checkBinding({ artifactId, binding }: Artifact, { state, step, attempt }: ExpectedArtifact) {
  return firstDifference('ERR_ARTIFACT_BINDING', artifactId, [
    ['dispatch', binding.dispatchId, attempt.dispatchId],
    ['step', binding.stepId, step.definition.stepId],
    ['plan version', binding.planVersion, state.accepted?.plan.version],
    ['attempt', binding.attempt, attempt.attempt],
    ['task', binding.taskId, attempt.taskId],
    ['context', binding.contextId, attempt.contextId],
    ['lease', binding.leaseId, attempt.leaseId],
  ]);
}

function checkProducer({ artifactId, producer }: Artifact, { step, card }: ExpectedArtifact) {
  return firstDifference('ERR_ARTIFACT_PRODUCER', artifactId, [
    ['team', producer.team, step.definition.team],
    ['card', producer.team, card?.team],
    ['workload', producer.workload, card?.workload],
  ]);
}

function checkContent(artifact: Artifact): ErrorRecord | undefined {
  const { contentDigest, ...content } = artifact;
  const text = canonicalText(content);
  if (text === undefined || digestOfBytes(text) !== contentDigest)
    return failure('ERR_ARTIFACT_DIGEST', `Artifact ${artifact.artifactId} is not what its content digest says.`);
  // No UTF-8 form is shorter than its UTF-16 length, so this bound never refuses what fits.
  if (text.length > ARTIFACT_BYTES_MAX)
    return failure('ERR_ARTIFACT_SIZE', `Artifact ${artifact.artifactId} is larger than ${ARTIFACT_BYTES_MAX} bytes.`);
  return undefined;
}

function checkContract(artifact: Artifact, { step: { skill } }: ExpectedArtifact) {
  return firstDifference('ERR_ARTIFACT_SCHEMA', artifact.artifactId, [
    ['skill', artifact.skillId, skill.skillId],
    ['skill version', artifact.skillVersion, skill.version],
    ['schema', artifact.schemaId, skill.artifact.schemaId],
    ['schema version', artifact.schemaVersion, skill.artifact.schemaVersion],
  ]);
}

const WITH_DATA: ReadonlySet<StepStatus> = new Set(['completed', 'partial', 'degraded']);

/** "Nothing found" is no_data, never completed with nothing in it. */
function checkPresence({ artifactId, status, data }: Artifact): ErrorRecord | undefined {
  if (WITH_DATA.has(status) && data === undefined)
    return failure('ERR_ARTIFACT_MISSING', `Artifact ${artifactId} is ${status} and holds no data.`);
  if (!WITH_DATA.has(status) && data !== undefined)
    return failure('ERR_ARTIFACT_SCHEMA', `Artifact ${artifactId} is ${status} and yet holds data.`);
  return undefined;
}

/** A member that no schema names may be an instruction to whoever reads on. */
function checkMembers(artifact: Artifact, expected: ExpectedArtifact): ErrorRecord | undefined {
  return schemaFailure(artifact, expected, true);
}

function checkData(artifact: Artifact, expected: ExpectedArtifact): ErrorRecord | undefined {
  return schemaFailure(artifact, expected, false);
}

function schemaFailure(
  { artifactId, data }: Artifact,
  { step: { skill } }: ExpectedArtifact,
  unknownMember: boolean,
): ErrorRecord | undefined {
  if (data === undefined) return undefined;
  const issues = checkSchema(skill.artifact, data).filter((issue) => issue.unknownMember === unknownMember);
  if (issues.length === 0) return undefined;
  const pointers = issues.slice(0, 8).map(({ pointer }) => pointer || '/');
  const what = unknownMember ? 'members that its schema does not name' : 'data that its schema refuses';
  return failure('ERR_ARTIFACT_SCHEMA', `Artifact ${artifactId} has ${what}, at ${pointers.join(', ')}.`, { pointers });
}

function firstDifference(
  code: ErrorCode,
  artifactId: string,
  pairs: readonly (readonly [what: string, got: string | number, expected: string | number | undefined])[],
): ErrorRecord | undefined {
  const different = pairs.find(([, got, expected]) => got !== expected);
  if (different === undefined) return undefined;
  const [what, got, expected] = different;
  return failure(code, `Artifact ${artifactId} names ${what} ${got}; expected was ${expected ?? 'none'}.`, { what });
}
