import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import { z } from 'zod';
import { boundableArguments, checkArguments, exactBounds, resourceOf } from './call-arguments.ts';
import { readSchema } from './value-schema.ts';

const INPUT = { type: 'object', properties: { claimId: { type: 'string' } }, required: ['claimId'] };

async function findings(schema: object, given: unknown): Promise<unknown> {
  const [end] = await Promise.allSettled([checkArguments('t', readSchema(schema, 'the schema'), given)]);
  if (end?.status === 'fulfilled') return [];
  assert.ok(end?.reason instanceof CaseOpsError);
  assert.equal(end.reason.code, 'ERR_SCHEMA');
  return end.reason.detail['pointers'];
}

test('an argument that the schema would drop is refused, whatever kind of schema it is', async () => {
  const given = { claimId: 'C-102', tenant: 't8' };
  assert.deepEqual(await findings(z.object({ claimId: z.string() }), given), ['/tenant']);
  assert.deepEqual(await findings(INPUT, given), ['/tenant']);
  assert.deepEqual(await findings({ jsonSchema: INPUT }, given), ['/tenant']);
  const transformed = z.object({ claimId: z.string() }).transform((value) => value);
  assert.deepEqual(await findings(transformed, given), ['/tenant']);
  assert.deepEqual(await findings(z.looseObject({ claimId: z.string() }), given), []);
  assert.deepEqual(await findings({ ...INPUT, additionalProperties: { type: 'string' } }, given), []);
});

test('a value of the wrong type, a missing argument, and what is no JSON object are refused', async () => {
  for (const schema of [z.object({ claimId: z.string() }), INPUT, { jsonSchema: INPUT }]) {
    assert.deepEqual(await findings(schema, { claimId: 1 }), ['/claimId']);
    assert.deepEqual(await findings(schema, {}), ['/claimId']);
    for (const strange of [
      undefined,
      null,
      'C-102',
      ['C-102'],
      { claimId: 1n },
      { claimId: () => 1 },
      { claimId: NaN },
    ])
      assert.notDeepEqual(await findings(schema, strange), []);
  }
  assert.notDeepEqual(await findings(z.object({ claimId: z.string() }), { claimId: 'x'.repeat(70_000) }), []);
});

test('a validator that answers with neither value nor issues, or that refuses, lets nothing pass', async () => {
  for (const verdict of ['fine', undefined, {}, { issues: [] }])
    assert.deepEqual(await findings({ '~standard': { validate: () => verdict } }, { a: 1 }), ['']);
  assert.deepEqual(await findings({ jsonSchema: INPUT, validate: () => ({ success: false }) }, { claimId: 'x' }), ['']);
  assert.deepEqual(await findings({ jsonSchema: { type: 'object', $ref: '#/nowhere' } }, { claimId: 'x' }), ['']);
  const later = { '~standard': { validate: (value: unknown) => Promise.resolve({ value }) } };
  assert.deepEqual(await findings(later, { a: 1 }), []);
});

test('what is no schema is refused when it is read', () => {
  for (const strange of [undefined, null, 'string', {}, 42, { validate: () => true }])
    assert.throws(() => readSchema(strange, 'it'), { code: 'ERR_CONFIG' });
  assert.throws(() => readSchema({ type: 'object', $ref: '#/nowhere' }, 'it'), { code: 'ERR_CONFIG' });
  assert.ok(readSchema(() => ({ jsonSchema: INPUT }), 'a lazy schema'));
});

test('the arguments are a copy: what the caller changes later changes nothing', async () => {
  const given = { list: [1] };
  const args = await checkArguments('t', readSchema(z.object({ list: z.array(z.number()) }), 'it'), given);
  given.list.push(2);
  assert.deepEqual(args, { list: [1] });
  const unsaid = { claimId: 'C-102', limit: undefined };
  const some = z.object({ claimId: z.string(), limit: z.number().optional() });
  assert.deepEqual(await checkArguments('t', readSchema(some, 'it'), unsaid), { claimId: 'C-102' });
});

test('scalars are bounded as they are, everything else by the digest of its canonical form', () => {
  const bounds = exactBounds({ id: 'C-102', n: 1, yes: true, list: [2, 1], none: null, long: 'x'.repeat(1_025) });
  assert.deepEqual([bounds['id'], bounds['n'], bounds['yes']], [{ exact: 'C-102' }, { exact: 1 }, { exact: true }]);
  for (const key of ['list', 'none', 'long']) assert.match(JSON.stringify(bounds[key]), /sha256:/);
  assert.deepEqual(boundableArguments({ o: { a: 1, b: 2 } }), boundableArguments({ o: { b: 2, a: 1 } }));
  assert.notDeepEqual(boundableArguments({ o: [1, 2] }), boundableArguments({ o: [2, 1] }));
});

test('the record is named by a text or a number, and by nothing else', () => {
  const resource = { type: 'claim', argument: 'id' };
  assert.deepEqual(resourceOf('t', resource, { id: 'C-102' }), { id: 'C-102', resource: 'claim:C-102' });
  assert.equal(resourceOf('t', resource, { id: 7 }).resource, 'claim:7');
  for (const args of [{}, { id: '' }, { id: null }, { id: ['C-102'] }, { id: 'x'.repeat(129) }])
    assert.throws(() => resourceOf('t', resource, args), { code: 'ERR_SCHEMA' });
  assert.throws(() => resourceOf('t', { type: 'claim', argument: 'constructor' }, {}), { code: 'ERR_SCHEMA' });
});
