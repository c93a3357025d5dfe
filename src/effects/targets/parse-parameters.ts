/** Parameters at a target's door: a schema, its findings with pointers, and a canonical result. Source: DESIGN §3.10. */
import { pointerTo } from '#contracts/json-schema.ts';
import { canonicalText } from '#kernel/canonical.ts';
import type { EffectParameters } from '#ports/effect-target.ts';
import type { Parsed } from '#ports/team-definition.ts';
import type { z } from 'zod';

/** Validated and defaulted by an object schema that refuses what it does not name. The result is read back from its RFC 8785 form. */
export function parseParameters(schema: z.ZodType, parameters: unknown): Parsed<EffectParameters> {
  const parsed = schema.safeParse(parameters);
  if (!parsed.success) {
    return {
      ok: false,
      issues: parsed.error.issues.map(({ path, message }) => ({ pointer: pointerTo(path), message })),
    };
  }
  const canonical = canonicalText(parsed.data);
  if (canonical?.startsWith('{') !== true) {
    return {
      ok: false,
      issues: [{ pointer: '', message: 'The parameters are no JSON object with a canonical form.' }],
    };
  }
  return { ok: true, value: JSON.parse(canonical) as EffectParameters };
}
