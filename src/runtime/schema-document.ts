/** From an author's zod schema to the published JSON Schema and the parser that both sides use. */
import { CaseOpsError } from '#contracts/error.ts';
import type { SchemaDocument } from '#contracts/skill.ts';
import { digestOf } from '#kernel/digest.ts';
import { escapePointer } from '#kernel/pointer.ts';
import type { Parsed } from '#ports/team-definition.ts';
import { z } from 'zod';

/**
 * The JSON Schema 2020-12 of a schema, with its digest. `side` says which form is described: what a caller gives (`input`, before
 * defaults) or what comes out. Throws ERR_CONFIG when JSON Schema cannot say it (a transform, a date, a custom check).
 */
export function schemaDocument(options: {
  readonly id: string;
  readonly version: string;
  readonly schema: z.ZodObject;
  readonly side: 'input' | 'output';
}): SchemaDocument {
  const schema = toJsonSchema(options);
  return { schemaId: options.id, schemaVersion: options.version, digest: digestOf(schema), schema };
}

function toJsonSchema(options: Parameters<typeof schemaDocument>[0]): SchemaDocument['schema'] {
  try {
    const written: unknown = z.toJSONSchema(options.schema, { target: 'draft-2020-12', io: options.side });
    return z.record(z.string(), z.json()).parse(JSON.parse(JSON.stringify(written)));
  } catch (cause) {
    throw new CaseOpsError('ERR_CONFIG', `The schema ${options.id} cannot be written as JSON Schema 2020-12.`, {
      at: 'runtime',
      cause,
    });
  }
}

/** A parser that answers with a value or with all issues, each with its JSON pointer. Never throws. */
export function parserOf<T>(schema: z.ZodType<T>): (value: unknown) => Parsed<T> {
  return (value) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return { ok: true, value: parsed.data };
    return {
      ok: false,
      issues: parsed.error.issues.map(({ path, message }) => ({
        pointer: path.map((part) => `/${escapePointer(String(part))}`).join(''),
        message,
      })),
    };
  };
}
