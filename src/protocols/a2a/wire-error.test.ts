import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CaseOpsError, ERROR_CODES, type ErrorCode, type ErrorRecord } from '#contracts/error.ts';
import { answerOf, type Binding, maskError, readWireError, STATUS_OF_KIND, wireErrorOf } from './wire-error.ts';

const record = (code: ErrorCode): ErrorRecord => {
  const kind = ERROR_CODES[code];
  return { code, kind, message: 'Expected this, got that.', at: 'team', retryable: kind === 'unavailable' };
};

test('every kind of error has the status that is written down here', () => {
  assert.deepEqual(STATUS_OF_KIND, {
    usage: 400,
    contract: 400,
    denied: 403,
    conflict: 409,
    limit: 429,
    unavailable: 503,
    unknown_effect: 500,
    cancelled: 409,
    invariant: 500,
  });
});

for (const binding of ['HTTP+JSON', 'JSONRPC'] as const satisfies readonly Binding[])
  test(`${binding}: our error comes back with its code and its word on retrying`, () => {
    const codes = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => STATUS_OF_KIND[ERROR_CODES[code]] !== 500);
    assert.ok(codes.length > 30);
    for (const code of codes) {
      const answer = answerOf(wireErrorOf(record(code), binding), binding);
      const read = readWireError(answer.status, JSON.parse(answer.body), 'a2a');
      assert.deepEqual([read.code, read.retryable], [code, record(code).retryable]);
    }
  });

test('a text that was not meant for the caller does not go out', () => {
  for (const error of [new Error('secret'), 'secret', new CaseOpsError('ERR_INVARIANT', 'secret', { at: 'kernel' })]) {
    const answer = answerOf(maskError(error, 'HTTP+JSON'), 'HTTP+JSON');
    assert.equal(answer.status, 500);
    assert.ok(!answer.body.includes('secret'));
  }
});

test('a guard that cannot decide now is a denial that may be tried again', () => {
  const read = readWireError(503, { outcome: 'retry', code: 'revocation', boundary: 'a2a' }, 'a2a');
  assert.deepEqual([read.code, read.retryable], ['ERR_DENIED', true]);
  const denied = readWireError(401, undefined, 'a2a');
  assert.deepEqual([denied.code, denied.retryable], ['ERR_DENIED', false]);
  assert.equal(readWireError(502, '<html>', 'a2a').retryable, true);
  assert.equal(readWireError(500, {}, 'a2a').retryable, false);
});
