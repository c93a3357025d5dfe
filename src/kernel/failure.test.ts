import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorRecord } from '#contracts/error.ts';
import { failure } from './failure.ts';

test('a failure conforms to the error contract and takes its kind from its code', () => {
  const plain = failure('ERR_BUDGET', 'Expected at most 8 tool calls.');
  assert.deepEqual(errorRecord.parse(plain), plain);
  assert.deepEqual([plain.kind, plain.retryable, 'detail' in plain], ['limit', false, false]);
  const detailed = failure('ERR_TEAM_UNREACHABLE', 'x'.repeat(3_000), { team: 'claims' });
  assert.deepEqual(errorRecord.parse(detailed), detailed);
  assert.deepEqual([detailed.retryable, detailed.message.length], [true, 2_000]);
});
