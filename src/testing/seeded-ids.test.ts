import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseId, runId } from '#contracts/ids.ts';
import { seededIds } from './seeded-ids.ts';

test('the same seed gives the same ids, another seed others, and a kind counts on its own', () => {
  const one = seededIds(7);
  const two = seededIds(7);
  two.next('lse');
  assert.equal(one.next('run'), two.next('run'));
  assert.notEqual(one.next('run'), seededIds(8).next('run'));
  assert.equal(one.next('run'), 'run_7-000003');
});

test('seeded ids are ids of their kind', () => {
  const ids = seededIds('team-a');
  runId.parse(ids.next('run'));
  leaseId.parse(ids.next('lse'));
});
