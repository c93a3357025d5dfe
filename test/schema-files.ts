/** The published JSON Schemas as file name → text. The version is part of the `$id`, so that a change without a raise is visible. */
import { z } from 'zod';
import { PUBLISHED_CONTRACTS } from '#contracts/registry.ts';

export function schemaFiles(): ReadonlyMap<string, string> {
  return new Map(
    PUBLISHED_CONTRACTS.map(({ id, version, schema }) => {
      const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
      return [`${id}.json`, `${JSON.stringify({ ...json, $id: `urn:caseops:contract:${id}:${version}` }, null, 2)}\n`];
    }),
  );
}
