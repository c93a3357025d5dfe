/** Checks by JSON Schema 2020-12, through zod. Source: DESIGN §2 "contracts". */
import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, z.core.util.JSONType>>;
export interface SchemaIssue {
  /** RFC 6901, into the value. */
  readonly pointer: string;
  readonly message: string;
  /** The value has members that the schema does not name. */
  readonly unknownMember: boolean;
}

export type SchemaCheck = (value: unknown) => readonly SchemaIssue[];

/** A check for a JSON Schema document; undefined when it uses what is not supported, and so can accept nothing. */
export function fromJsonSchema(document: JsonSchema): SchemaCheck | undefined {
  try {
    const schema = z.fromJSONSchema(document);
    return (value) => issuesOf(schema, value);
  } catch {
    return undefined;
  }
}

/** What a schema finds in a value; empty means: conforms. */
function issuesOf(schema: z.ZodType, value: unknown): readonly SchemaIssue[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message, code }) => ({
    pointer: pointerTo(path),
    message,
    unknownMember: code === 'unrecognized_keys',
  }));
}

/** The pointer for zod's path. */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
