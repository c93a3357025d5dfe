/** A node writes its own fields and no others. INV-09. Source: DESIGN §3.7 "A node that returns a field it does not own is refused". */
import type { Artifact } from '#contracts/artifact.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import { failure } from './failure.ts';
import { escapePointer } from './pointer.ts';
import type { StepState } from './run-state.ts';

/**
 * The first thing in the artifact that its step does not own (ERR_RESULT_FIELD_NOT_OWNED): a data field that the skill's artifact
 * schema does not name, evidence of a call that is not in it, or a record without evidence. Whether the data conform besides is the
 * artifact's acceptance.
 */
export function checkOwnership(artifact: Artifact, step: StepState): ErrorRecord | undefined {
  const { properties } = step.skill.artifact.schema;
  if (isObject(artifact.data) && isObject(properties)) {
    const extra = Object.keys(artifact.data).find((key) => !Object.hasOwn(properties, key));
    if (extra !== undefined) return notOwned(step, `/data/${escapePointer(extra)}`);
  }
  const callIds = new Set<string>(artifact.toolCalls.map(({ callId }) => callId));
  const uncalled = artifact.evidence.findIndex(({ callId }) => callId !== undefined && !callIds.has(callId));
  if (uncalled >= 0) return notOwned(step, `/evidence/${uncalled}/callId`);
  const evidenceIds = new Set<string>(artifact.evidence.map(({ evidenceId }) => evidenceId));
  const unbound = Object.keys(artifact.records).find((evidenceId) => !evidenceIds.has(evidenceId));
  return unbound === undefined ? undefined : notOwned(step, `/records/${escapePointer(unbound)}`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notOwned(step: StepState, pointer: string): ErrorRecord {
  const { stepId } = step.definition;
  return failure('ERR_RESULT_FIELD_NOT_OWNED', `Step ${stepId} delivered ${pointer}, which is not its own to write.`, {
    stepId,
    pointer,
  });
}
