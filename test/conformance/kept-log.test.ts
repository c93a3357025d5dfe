/** A log that was written once, and that every later version must still read: its schema, its chain, its fold. Never write it anew. */
import { runEvent } from '#contracts/event.ts';
import { verifyChain } from '#kernel/chain.ts';
import { foldRun } from '#kernel/evolve.ts';
import { foldGraph } from '#kernel/graph.ts';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

test('a log of an earlier version parses, verifies and folds as it did: INV-11', () => {
  const kept = JSON.parse(readFileSync(join(import.meta.dirname, 'kept-log.json'), 'utf8')) as unknown[];
  assert.ok(kept.length > 20);
  const events = kept.map((event) => runEvent.parse(event));
  const state = foldRun(events);
  assert.ok(state !== undefined);
  assert.equal(verifyChain({ ref: state.ref, seq: 0, hash: '' }, events).ok, true);
  assert.deepEqual([state.result, state.steps.size, state.answer?.claims.length], ['completed', 4, 5]);
  assert.deepEqual(foldGraph(events)?.violations, []);
});
