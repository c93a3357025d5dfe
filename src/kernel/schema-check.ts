/** Checks a value against a JSON Schema document; the compiled check is kept by the document's digest. Source: DESIGN §3.5–3.6. */
import { fromJsonSchema, type SchemaCheck, type SchemaIssue } from '#contracts/json-schema.ts';
import type { SchemaDocument } from '#contracts/skill.ts';
import { digestOf } from './digest.ts';

const COMPILED_COUNT_MAX = 1_024;
const compiled = new Map<string, SchemaCheck>();

/**
 * What does not conform, with pointers into the value; empty means: conforms. Fails closed: a document whose digest is not its
 * schema's, or that uses an unsupported keyword, conforms to nothing.
 */
export function checkSchema(document: SchemaDocument, value: unknown): readonly SchemaIssue[] {
  const check = compiled.get(document.digest) ?? compile(document);
  return check(value);
}

function compile(document: SchemaDocument): SchemaCheck {
  const own = digestOf(document.schema);
  if (own !== document.digest)
    return unusable(`Schema ${document.schemaId} has digest ${own}, not ${document.digest}.`);
  const check = fromJsonSchema(document.schema);
  if (check === undefined) return unusable(`Schema ${document.schemaId} uses a keyword that is not supported.`);
  if (compiled.size >= COMPILED_COUNT_MAX) compiled.clear();
  compiled.set(document.digest, check);
  return check;
}

function unusable(message: string): SchemaCheck {
  return () => [{ pointer: '', message, unknownMember: false }];
}
