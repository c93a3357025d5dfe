import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRef } from '#contracts/command.ts';
import type { RecordWrite } from '#ports/store.ts';
import { conflictError } from './conflict-error.ts';

const REF: RunRef = { tenant: 't9', runId: 'run_1' };
const HOLD: RecordWrite = {
  table: 'quota',
  tenant: 't9',
  scope: 'money:EUR',
  day: '2026-07-22',
  key: 'dsp_2',
  amount: 31,
  amountMax: 100,
};
const REFUSED = {
  ok: false,
  conflict: 'record',
  table: 'quota',
  key: 't9 money:EUR 2026-07-22 dsp_2',
  requestDigest: undefined,
  runId: undefined,
  left: 30,
} as const;

test('a quota that has less left is a limit that says what was asked for and what is left', () => {
  const error = conflictError(REF, REFUSED, [HOLD]);
  assert.deepEqual([error.code, error.kind, error.retryable], ['ERR_QUOTA', 'limit', false]);
  assert.deepEqual(error.detail, { table: 'quota', scope: 'money:EUR', day: '2026-07-22', left: 30, asked: 31 });
  assert.match(error.message, /asked for 31 of the quota money:EUR .* 30 are left/);
});

test('a refused quota that none of the records asked for is told by its key', () => {
  const error = conflictError(REF, REFUSED, []);
  assert.equal(error.code, 'ERR_QUOTA');
  assert.match(error.message, /t9 money:EUR 2026-07-22 dsp_2/);
});
