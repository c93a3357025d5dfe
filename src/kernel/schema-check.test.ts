import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SchemaDocument } from '#contracts/skill.ts';
import { z } from 'zod';
import { digestOf } from './digest.ts';
import { checkSchema } from './schema-check.ts';

function schemaDocument(schemaId: string, schemaVersion: string, schema: z.ZodType): SchemaDocument {
  const written = JSON.parse(JSON.stringify(z.toJSONSchema(schema))) as SchemaDocument['schema'];
  return { schemaId, schemaVersion, digest: digestOf(written), schema: written };
}

const claim = z.strictObject({
  claim_id: z.string().min(1),
  items: z.array(z.enum(['a/b', 'c'])),
  due: z.int().optional(),
});

test('a schema document checks what its zod schema checks', () => {
  const document = schemaDocument('claims.claim', '1.0.0', claim);
  assert.equal(document.digest, digestOf(document.schema));
  assert.deepEqual(checkSchema(document, { claim_id: 'C-102', items: ['c'] }), []);
  const pointers = checkSchema(document, { claim_id: '', items: ['c', 'z'], due: 1.5, extra: 1 }).map((i) => i.pointer);
  assert.deepEqual(pointers.toSorted(), ['', '/claim_id', '/due', '/items/1']);
});

test('the digest does not depend on the order of members', () => {
  const one = schemaDocument('x', '1.0.0', z.strictObject({ a: z.string(), b: z.number() }));
  const other = schemaDocument('x', '1.0.0', z.strictObject({ b: z.number(), a: z.string() }));
  // `required` is an array, so its order counts; properties do not.
  assert.equal(digestOf(one.schema['properties']), digestOf(other.schema['properties']));
});

test('a pointer escapes slash and tilde', () => {
  const document = schemaDocument('x', '1.0.0', z.strictObject({ 'a/b~c': z.string() }));
  assert.deepEqual(
    checkSchema(document, { 'a/b~c': 1 }).map((i) => i.pointer),
    ['/a~1b~0c'],
  );
});

test('a document whose digest is not its own conforms to nothing', () => {
  const document = schemaDocument('x', '1.0.0', z.string());
  const forged = { ...document, schema: {}, digest: digestOf('something else') };
  assert.match(
    checkSchema(forged, 'text')
      .map((i) => i.message)
      .join(),
    /^Schema x has digest sha256:/,
  );
});

test('an unsupported keyword conforms to nothing', () => {
  const schema = { type: 'object', unevaluatedProperties: false };
  const document = { schemaId: 'x', schemaVersion: '1.0.0', digest: digestOf(schema), schema };
  assert.match(
    checkSchema(document, {})
      .map((i) => i.message)
      .join(),
    /keyword that is not supported/,
  );
});

test('the number of compiled checks is bounded and old documents still check', () => {
  const first = schemaDocument('x', '1.0.0', z.literal('first'));
  assert.deepEqual(checkSchema(first, 'first'), []);
  for (let index = 0; index < 1_100; index += 1) {
    const schema = { const: index };
    checkSchema({ schemaId: `s${index}`, schemaVersion: '1.0.0', digest: digestOf(schema), schema }, index);
  }
  assert.deepEqual(checkSchema(first, 'first'), []);
  assert.equal(checkSchema(first, 'second').length, 1);
});
