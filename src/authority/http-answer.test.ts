import assert from 'node:assert/strict';
import test from 'node:test';
import type { Refusal } from '#ports/guard.ts';
import { consumedRefusal } from './guard.ts';
import { httpAnswer, httpAnswerText } from './http-answer.ts';
import { REFUSAL_CODES } from './refusal-code.ts';

const refusal = (code: string, outcome: Refusal['outcome'] = 'deny'): Refusal => ({
  outcome,
  code,
  boundary: 'a2a',
  message: 'Expected another.',
  guard: 'secret-mechanism',
});
const challenge = (code: string, outcome?: Refusal['outcome']): readonly unknown[] => {
  const { status, headers } = httpAnswer(refusal(code, outcome));
  return [status, headers['www-authenticate']];
};

void test('status and challenge are those of RFC 6750 and RFC 9449', () => {
  assert.deepEqual(challenge('lease_missing'), [401, 'DPoP algs="ES256"']);
  assert.deepEqual(challenge('expired'), [401, 'DPoP error="invalid_token", algs="ES256"']);
  assert.deepEqual(challenge('body_digest'), [401, 'DPoP error="invalid_dpop_proof", algs="ES256"']);
  assert.deepEqual(challenge('nonce_required'), [401, 'DPoP error="use_dpop_nonce", algs="ES256"']);
  assert.deepEqual(challenge('action'), [403, 'DPoP error="insufficient_scope", algs="ES256"']);
  assert.deepEqual(challenge('lease_consumed'), [409, undefined]);
  assert.deepEqual(challenge('a word of a later version'), [403, 'DPoP algs="ES256"']);
});

void test('what may pass later says when to ask again', () => {
  const { status, headers } = httpAnswer(refusal('not_yet_valid', 'retry'));
  assert.deepEqual([status, headers['retry-after']], [503, '1']);
  assert.equal(httpAnswer(refusal('anything', 'quarantine')).status, 422);
  assert.equal(httpAnswer(refusal('lease_missing', 'request_input')).status, 401);
});

void test('every refusal has one shape, names no guard step, and its text is its body', () => {
  for (const code of Object.keys(REFUSAL_CODES)) {
    const { body, headers, status } = httpAnswer(refusal(code));
    assert.deepEqual(Object.keys(body), ['type', 'title', 'status', 'detail', 'outcome', 'code', 'boundary']);
    assert.equal(body.status, status);
    assert.equal(headers['content-type'], 'application/problem+json');
    const text = httpAnswerText(refusal(code)).body;
    assert.deepEqual(JSON.parse(text), body);
    assert.equal(text.includes('secret-mechanism'), false);
  }
});

void test('a used lease is a conflict at the boundary that saw it', () => {
  assert.equal(httpAnswer(consumedRefusal('mcp')).status, 409);
  assert.equal(httpAnswer(consumedRefusal('mcp')).body.boundary, 'mcp');
});
