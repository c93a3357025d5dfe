/** Builds a schema document: JSON Schema with id, version and digest. Source: CONTRACTS "Skill contract". */
import { toJsonSchema, type Schema } from '#contracts/json-schema.ts';
import type { SchemaDocument } from '#contracts/skill.ts';
import { digestOf } from './digest.ts';

/** Promises the same digest for the same schema whatever the order of its members. Throws, by zod, when JSON Schema cannot say it. */
export function schemaDocument(schemaId: string, schemaVersion: string, schema: Schema): SchemaDocument {
  const document = toJsonSchema(schema);
  return { schemaId, schemaVersion, digest: digestOf(document), schema: document };
}
