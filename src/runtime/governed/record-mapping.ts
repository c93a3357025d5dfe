/**
 * From what a tool returns to the records that the evidence binder takes: `{ id, version, tenant, observedAt, data }`, by the tool's
 * description. It maps and never judges: what is missing stays missing, and the binder refuses it under its own code.
 */
import type { RecordMapping } from '#contracts/call-events.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { resolvePointer } from '#kernel/pointer.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';

const OUTPUT_BYTES_MAX = 1_000_000;

/** The output as JSON, in a copy of its own; text that holds JSON is read. Throws ERR_TOOL_OUTPUT_SCHEMA for what is no JSON. */
export function jsonOutput(tool: string, output: unknown): unknown {
  let text: string | undefined;
  try {
    text = typeof output === 'string' ? output : JSON.stringify(output ?? null);
  } catch (cause) {
    throw refusal(tool, 'a value that is not JSON', cause);
  }
  if (text === undefined) throw refusal(tool, 'a value that is not JSON', undefined);
  const parsed = parseStrictJson(text, { bytesMax: OUTPUT_BYTES_MAX });
  if (parsed.ok) return parsed.value;
  if (typeof output === 'string' && parsed.error.code === 'ERR_JSON_SYNTAX') return output;
  throw refusal(tool, `JSON that is refused: ${parsed.error.message}`, undefined);
}

/** `{ records }` for the binder. Where no array or object of records is, it has none, and the binder says so. */
export function mappedRecords(mapping: RecordMapping, output: unknown, arrivedAt: string): unknown {
  const found = resolvePointer(output, mapping.recordsPointer);
  if (found.found && found.value === null) return { records: [] };
  if (!found.found || typeof found.value !== 'object') return {};
  const records: readonly unknown[] = Array.isArray(found.value) ? found.value : [found.value];
  return { records: records.map((record) => mapped(mapping, record, arrivedAt)) };
}

function mapped(mapping: RecordMapping, record: unknown, arrivedAt: string): object {
  const { idPointer, versionPointer, tenantPointer, soleTenant, observedAtPointer, dataPointer } = mapping;
  const data = resolvePointer(record, dataPointer);
  return {
    id: textAt(record, idPointer),
    version: textAt(record, versionPointer),
    tenant: tenantPointer === null ? soleTenant : textAt(record, tenantPointer),
    observedAt: observedAtPointer === null ? arrivedAt : textAt(record, observedAtPointer),
    ...(data.found ? { data: data.value } : {}),
  };
}

/** Owners count versions and ids in whole numbers as well. */
function textAt(record: unknown, pointer: string): unknown {
  const at = resolvePointer(record, pointer);
  if (!at.found) return undefined;
  return Number.isSafeInteger(at.value) ? String(at.value) : at.value;
}

function refusal(tool: string, what: string, cause: unknown): CaseOpsError {
  return new CaseOpsError('ERR_TOOL_OUTPUT_SCHEMA', `Tool ${tool} returned ${what}.`, { at: 'tool', cause });
}
