/** A node writes its own fields and no others. INV-09. Source: DESIGN §3.7 "A node that returns a field it does not own is refused". */
import type { Artifact } from '#contracts/artifact.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import { failure } from './failure.ts';
import { escapePointer } from './pointer.ts';
import type { StepState } from './run-state.ts';

/**
 * The first field of the artifact's data that its skill's schema does not name (ERR_RESULT_FIELD_NOT_OWNED), also where the schema
 * forgot to close itself; one that opens itself on purpose (`additionalProperties`) owns what it lets in. Evidence, records and calls
 * that belong elsewhere are refused by the artifact's acceptance.
 */
export function checkOwnership({ artifactId, data }: Artifact, step: StepState): ErrorRecord | undefined {
  const { properties, additionalProperties } = step.skill.artifact.schema;
  const open = additionalProperties !== undefined && additionalProperties !== false;
  if (open || !isObject(data) || !isObject(properties)) return undefined;
  const extra = Object.keys(data).find((key) => !Object.hasOwn(properties, key));
  if (extra === undefined) return undefined;
  const { stepId } = step.definition;
  const pointer = `/data/${escapePointer(extra)}`;
  return failure(
    'ERR_RESULT_FIELD_NOT_OWNED',
    `Artifact ${artifactId} of step ${stepId} writes ${pointer}, which is not its own.`,
    { stepId, pointer },
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
