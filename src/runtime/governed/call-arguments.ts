/**
 * The arguments of a call: JSON, named by the tool's own schema and conforming to it, kept as they were checked. Closed world: an
 * argument that the schema does not name is refused, also where the schema would drop it. Source: LEASE "Narrowing".
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { JsonSchema } from '#contracts/json-schema.ts';
import type { Bound } from '#contracts/lease.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { digestOf } from '#kernel/digest.ts';
import { z } from 'zod';
import type { SchemaFinding, SchemaReader } from './value-schema.ts';

export type JsonArguments = Readonly<Record<string, z.core.util.JSONType>>;

const ARGUMENTS_BYTES_MAX = 65_536;
const SCALAR_TEXT_LENGTH_MAX = 1_024;
const jsonArguments = z.record(z.string().max(128), z.json());

/** A copy that nobody else can change. Throws ERR_SCHEMA naming what is wrong and where; never a value. */
export async function checkArguments(tool: string, schema: SchemaReader, given: unknown): Promise<JsonArguments> {
  const parsed = jsonArguments.safeParse(withoutUndefined(given));
  if (!parsed.success) throw refusal(tool, [{ pointer: '', message: 'expected an object of JSON values' }]);
  const args = structuredClone(parsed.data);
  const bytes = canonicalText(args)?.length ?? Infinity;
  if (bytes > ARGUMENTS_BYTES_MAX)
    throw refusal(tool, [
      { pointer: '', message: `expected canonical JSON of at most ${ARGUMENTS_BYTES_MAX} characters` },
    ]);
  const verdict = await schema.validate(structuredClone(args));
  if (!verdict.ok) throw refusal(tool, verdict.findings);
  const names = namesOf(await schema.jsonSchema()) ?? keysOf(verdict.value);
  const strange = Object.keys(args).filter((key) => names !== 'any' && !names.has(key));
  if (strange.length > 0)
    throw refusal(
      tool,
      strange.map((key) => ({ pointer: `/${key}`, message: 'the schema names no such argument' })),
    );
  return args;
}

/** `claim:C-102`. Throws ERR_SCHEMA when the argument that names the record is no text or number. */
export function resourceOf(
  tool: string,
  resource: { readonly type: string; readonly argument: string },
  args: JsonArguments,
): { readonly id: string; readonly resource: string } {
  const value = Object.hasOwn(args, resource.argument) ? args[resource.argument] : undefined;
  const id = typeof value === 'number' ? String(value) : value;
  if (typeof id !== 'string' || id === '' || id.length > 128)
    throw refusal(tool, [{ pointer: `/${resource.argument}`, message: `expected the id of a ${resource.type}` }]);
  return { id, resource: `${resource.type}:${id}` };
}

/** Each argument as a lease can bound it: a scalar as it is, anything else by the digest of its canonical form. */
export function boundableArguments(args: JsonArguments): Readonly<Record<string, string | number | boolean>> {
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, boundable(value)]));
}

/** Exactly these values and no other argument. */
export function exactBounds(args: JsonArguments): Record<string, Bound> {
  return Object.fromEntries(Object.entries(boundableArguments(args)).map(([key, exact]) => [key, { exact }]));
}

function boundable(value: z.core.util.JSONType): string | number | boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return typeof value === 'string' && value.length <= SCALAR_TEXT_LENGTH_MAX ? value : digestOf(value);
}

/** The argument names of an object schema; `any` when it says that it takes others; undefined when it is no plain object schema. */
function namesOf(document: JsonSchema | undefined): ReadonlySet<string> | 'any' | undefined {
  const properties = document?.['properties'];
  if (document === undefined || typeof properties !== 'object' || properties === null) return undefined;
  const others = document['additionalProperties'];
  if ((others !== undefined && others !== false) || document['patternProperties'] !== undefined) return 'any';
  return new Set(Object.keys(properties));
}

function keysOf(value: unknown): ReadonlySet<string> {
  return new Set(typeof value === 'object' && value !== null ? Object.keys(value) : []);
}

/** A member that is undefined is not said, as in JSON. */
function withoutUndefined(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function refusal(tool: string, findings: readonly SchemaFinding[]): CaseOpsError {
  const said = findings.map(({ pointer, message }) => `${pointer || '/'} ${message}`).join('; ');
  return new CaseOpsError(
    'ERR_SCHEMA',
    `The arguments of ${tool} do not conform to its schema: ${said}`.slice(0, 2_000),
    {
      at: 'tool',
      detail: { tool, pointers: findings.map(({ pointer }) => pointer) },
    },
  );
}
