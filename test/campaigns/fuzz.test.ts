import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runFuzz } from './fuzz.ts';
import { mutate } from './mutate.ts';
import { seededDice } from './seeded-dice.ts';

test('changed messages crash no door, are refused by name where they are malformed, and leave nothing behind', async () => {
  const check = await runFuzz({ caseCount: 1_500, seed: 20_260_701, durationMsMax: 12_000 });
  assert.deepEqual(check.failures, []);
  assert.equal(check.figures['unhandledRejectionCount'], 0);
  for (const [name, count] of Object.entries(check.figures))
    if (name.endsWith('CaseCount')) assert.ok(count > 0, `${name} is ${count}`);
});

test('the same seed makes the same messages, and most of them differ from the valid one', () => {
  const message = { text: 'Why?', input: { list: [1, 2], deep: { a: 'b' } } };
  const some = (seed: number): readonly string[] => {
    const dice = seededDice(seed);
    return Array.from({ length: 500 }, () => Buffer.from(mutate(message, dice).bytes).toString('latin1'));
  };
  assert.deepEqual(some(5), some(5));
  assert.notDeepEqual(some(5), some(6));
  const plain = JSON.stringify(message);
  assert.ok(some(5).filter((text) => text !== plain).length > 350);
});

test('what is called ill-formed is no JSON for the platform either, or breaks a rule of I-JSON', () => {
  const dice = seededDice(9);
  let illCount = 0;
  for (let index = 0; index < 2_000; index++) {
    const { bytes, illFormed, how } = mutate({ a: ['x'], n: 1 }, dice);
    if (!illFormed) continue;
    illCount++;
    const strict = /equal names|too deep|surrogate|no JSON|no UTF-8|byte order mark/.test(how);
    if (!strict) assert.throws(() => JSON.parse(Buffer.from(bytes).toString()), how);
  }
  assert.ok(illCount > 100);
});
