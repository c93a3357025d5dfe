/**
 * A schema as other people's tools carry it: Standard Schema (zod, valibot, arktype), the AI SDK's own wrapper, or a JSON Schema. Told
 * by its members; no schema library of theirs is imported. What cannot be read is refused when the tool is governed, never passed.
 */
import { CaseOpsError } from '#contracts/error.ts';
import { fromJsonSchema, type JsonSchema } from '#contracts/json-schema.ts';
import { z } from 'zod';

/** Any of the forms above; checked when it is read. */
export type ValueSchema = object;

export interface SchemaFinding {
  readonly pointer: string;
  readonly message: string;
}

export type Validated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly findings: readonly SchemaFinding[] };

export interface SchemaReader {
  readonly validate: (value: unknown) => Validated | Promise<Validated>;
  /** Undefined when the schema cannot say itself as JSON Schema. */
  readonly jsonSchema: () => Promise<JsonSchema | undefined>;
}

const jsonObject = z.record(z.string(), z.json());
const FINDING_COUNT_MAX = 16;

/** Throws ERR_CONFIG for what is no schema. `what` names it in the message. */
export function readSchema(schema: unknown, what: string): SchemaReader {
  const given: unknown =
    typeof schema === 'function' && !('~standard' in schema) ? (schema as () => unknown)() : schema;
  if (isStandard(given)) return standardReader(given['~standard']);
  if (isWrapped(given)) return wrappedReader(given);
  const document = jsonObject.safeParse(given);
  if (document.success && ('type' in document.data || 'properties' in document.data))
    return documentReader(document.data, what);
  throw new CaseOpsError('ERR_CONFIG', `Expected ${what} to be a Standard Schema or a JSON Schema; it is neither.`, {
    at: 'runtime',
  });
}

interface StandardProps {
  readonly validate: (value: unknown) => unknown;
  readonly jsonSchema?: { readonly input?: (options: { readonly target: string }) => unknown };
}

const standardResult = z.object({
  value: z.unknown().optional(),
  issues: z.array(z.object({ message: z.string(), path: z.array(z.unknown()).optional() })).nullish(),
});

function standardReader(props: StandardProps): SchemaReader {
  return {
    validate: (value) => {
      const result = props.validate(value);
      return result instanceof Promise ? result.then(standardVerdict) : standardVerdict(result);
    },
    jsonSchema: async () => {
      try {
        return jsonObject.safeParse(props.jsonSchema?.input?.({ target: 'draft-2020-12' })).data;
      } catch {
        return undefined;
      }
    },
  };
}

function standardVerdict(result: unknown): Validated {
  const parsed = standardResult.safeParse(result);
  const issues = parsed.data?.issues ?? [];
  if (issues.length === 0)
    return parsed.success && 'value' in parsed.data
      ? { ok: true, value: parsed.data.value }
      : refuse([{ pointer: '', message: 'the schema gave no verdict' }]);
  return refuse(issues.map(({ message, path = [] }) => ({ pointer: pointerOf(path), message })));
}

interface Wrapped {
  readonly jsonSchema: unknown;
  readonly validate?: ((value: unknown) => unknown) | undefined;
}

const wrappedResult = z.discriminatedUnion('success', [
  z.object({ success: z.literal(true), value: z.unknown() }),
  z.object({ success: z.literal(false), error: z.unknown() }),
]);

/** The AI SDK's `jsonSchema()`: a document, perhaps promised, with or without a validator of its own. */
function wrappedReader(wrapped: Wrapped): SchemaReader {
  const jsonSchema = async (): Promise<JsonSchema | undefined> => jsonObject.safeParse(await wrapped.jsonSchema).data;
  return {
    jsonSchema,
    validate: async (value) => {
      const document = await jsonSchema();
      if (wrapped.validate === undefined) return byDocument(document, value);
      const result = wrappedResult.safeParse(await wrapped.validate(value));
      if (result.success && result.data.success) return { ok: true, value: result.data.value };
      return refuse([{ pointer: '', message: 'the schema refused it' }]);
    },
  };
}

function documentReader(document: JsonSchema, what: string): SchemaReader {
  if (fromJsonSchema(document) === undefined)
    throw new CaseOpsError('ERR_CONFIG', `The JSON Schema of ${what} uses a keyword that cannot be checked.`, {
      at: 'runtime',
    });
  return { validate: (value) => byDocument(document, value), jsonSchema: () => Promise.resolve(document) };
}

function byDocument(document: JsonSchema | undefined, value: unknown): Validated {
  const check = document === undefined ? undefined : fromJsonSchema(document);
  if (check === undefined) return refuse([{ pointer: '', message: 'its JSON Schema cannot be checked' }]);
  const findings = check(value);
  return findings.length === 0 ? { ok: true, value } : refuse(findings);
}

function refuse(findings: readonly SchemaFinding[]): Validated {
  return { ok: false, findings: findings.slice(0, FINDING_COUNT_MAX) };
}

function isStandard(value: unknown): value is { readonly '~standard': StandardProps } {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const props: unknown = '~standard' in value ? value['~standard'] : undefined;
  return typeof props === 'object' && props !== null && 'validate' in props && typeof props.validate === 'function';
}

function isWrapped(value: unknown): value is Wrapped {
  if (typeof value !== 'object' || value === null || !('jsonSchema' in value)) return false;
  return !('validate' in value) || value.validate === undefined || typeof value.validate === 'function';
}

/** Standard Schema's path: keys, or objects that hold one. */
function pointerOf(path: readonly unknown[]): string {
  return path
    .map((part) => (typeof part === 'object' && part !== null && 'key' in part ? part.key : part))
    .map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
