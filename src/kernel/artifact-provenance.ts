/** Where an artifact's facts come from: pinned tools, observed records, each under its digest, about this step's resource. INV-01, INV-03. */
import type { Artifact } from '#contracts/artifact.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import { evidenceKey, type Evidence } from '#contracts/evidence.ts';
import type { StepStatus } from '#contracts/step-result.ts';
import { anchorType } from './anchor.ts';
import { digestOf } from './digest.ts';
import { failure } from './failure.ts';
import { resolveInputs } from './inputs.ts';
import type { AttemptState, RunState, StepState } from './run-state.ts';
import { millisOf } from './time.ts';

/** How far an owner's clock may be ahead of the producer's. */
const OBSERVATION_SKEW_MS = 5_000;

export interface ProvenanceExpected {
  readonly state: RunState;
  readonly step: StepState;
  readonly attempt: AttemptState;
}

/** Only tools that the skill names, at the pinned version and digest, each call once. */
export function checkToolCalls(
  { artifactId, toolCalls }: Artifact,
  { step: { skill } }: ProvenanceExpected,
): ErrorRecord | undefined {
  const seen = new Set<string>();
  for (const { callId, server, tool, contractVersion, contractDigest } of toolCalls) {
    const pinned = skill.toolContracts.find((contract) => contract.server === server && contract.tool === tool);
    if (pinned === undefined)
      return refused(artifactId, `names tool ${server}/${tool}, which skill ${skill.skillId} does not have`);
    if (pinned.version !== contractVersion || pinned.digest !== contractDigest)
      return refused(artifactId, `used ${server}/${tool} under another contract than the pinned ${pinned.version}`);
    if (seen.has(callId)) return refused(artifactId, `names call ${callId} twice`);
    seen.add(callId);
  }
  return undefined;
}

const NEEDS_EVIDENCE: ReadonlySet<StepStatus> = new Set(['completed', 'partial', 'degraded']);

/** Evidence of allowed kinds, enough of it, each with its record, each observed by a call that succeeded, about this step's resource, in time. */
export function checkEvidence(artifact: Artifact, expected: ProvenanceExpected): ErrorRecord | undefined {
  const { artifactId, evidence, status } = artifact;
  const { countMin } = expected.step.skill.evidence;
  const ids = new Set(evidence.map(({ evidenceId }) => evidenceId));
  const keys = new Set(evidence.map(evidenceKey));
  if (ids.size < evidence.length || keys.size < evidence.length)
    return refused(artifactId, 'names the same evidence twice');
  if (NEEDS_EVIDENCE.has(status) && evidence.length < countMin)
    return refused(artifactId, `has ${evidence.length} pieces of evidence, and its skill needs ${countMin}`);
  const loose = Object.keys(artifact.records).find((id) => !ids.has(id as Evidence['evidenceId']));
  if (loose !== undefined) return refused(artifactId, 'carries a record that no evidence names');
  const resources = resourcesOf(expected);
  const calls = new Set(artifact.toolCalls.filter(({ outcome }) => outcome === 'ok').map(({ callId }) => callId));
  for (const item of evidence) {
    const fault =
      recordFault(artifact, item) ??
      originFault(item, { expected, calls }) ??
      subjectFault(item, { expected, resources }) ??
      timeFault(item, { artifact, expected });
    if (fault !== undefined) return refused(artifactId, `has evidence ${item.evidenceId}, which ${fault}`);
  }
  return undefined;
}

/** What the step was about: its resources, as its input names them. */
function resourcesOf({ state, step }: ProvenanceExpected): readonly string[] {
  const resolved = resolveInputs(state, step.definition.stepId);
  return resolved.ok ? resolved.resources : [];
}

function recordFault({ records }: Artifact, item: Evidence): string | undefined {
  if (!Object.hasOwn(records, item.evidenceId)) return 'has no record';
  return digestOf(records[item.evidenceId]) === item.digest ? undefined : 'is not what its digest says';
}

/** A skill without tools observes nothing by a call, and so names none. */
function originFault(
  { callId, anchor }: Evidence,
  { expected, calls }: { readonly expected: ProvenanceExpected; readonly calls: ReadonlySet<string> },
): string | undefined {
  const { skill } = expected.step;
  if (!skill.evidence.anchorTypes.includes(anchorType(anchor)))
    return `is of ${anchor}, a kind that skill ${skill.skillId} may not bring`;
  if (callId === undefined) return skill.toolContracts.length > 0 ? 'names no tool call' : undefined;
  return calls.has(callId) ? undefined : `names ${callId}, which is no call that succeeded`;
}

/** A record of the type that the step is about must be the one it is about. */
function subjectFault(
  { anchor }: Evidence,
  { expected, resources }: { readonly expected: ProvenanceExpected; readonly resources: readonly string[] },
): string | undefined {
  const about = expected.step.skill.resources.some(({ type }) => type === anchorType(anchor));
  return about && !resources.includes(anchor) ? `is of ${anchor}, and the step is not about it` : undefined;
}

/** Not after the artifact was made, and not so long before the dispatch that the goal calls it stale. */
function timeFault(
  { observedAt }: Evidence,
  { artifact, expected }: { readonly artifact: Artifact; readonly expected: ProvenanceExpected },
): string | undefined {
  const observedMs = millisOf(observedAt);
  if (!(observedMs <= millisOf(artifact.producedAt) + OBSERVATION_SKEW_MS))
    return `was observed at ${observedAt}, after the artifact was made`;
  const ageMsMax = expected.state.goal?.evidencePolicy.observationAgeMsMax ?? 0;
  const stale = ageMsMax > 0 && observedMs < millisOf(expected.attempt.dispatchedAt) - ageMsMax;
  return stale ? `was observed at ${observedAt}, more than ${ageMsMax} ms before it was asked for` : undefined;
}

function refused(artifactId: string, what: string): ErrorRecord {
  return failure('ERR_ARTIFACT_EVIDENCE', `Artifact ${artifactId} ${what}.`);
}
