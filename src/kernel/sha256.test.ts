import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainSha256, sha256Hex, useSha256 } from './sha256.ts';

test('an implementation that disagrees on a probe is not taken, one that agrees is', () => {
  const calls: string[] = [];
  assert.equal(
    useSha256((bytes) => (bytes === 'abc' ? 'f'.repeat(64) : plainSha256(bytes))),
    false,
  );
  const told = (bytes: Uint8Array | string): string => {
    calls.push('hashed');
    return plainSha256(bytes);
  };
  assert.equal(useSha256(told), true);
  calls.length = 0;
  assert.equal(sha256Hex('x'), plainSha256('x'));
  assert.deepEqual(calls, ['hashed']);
  assert.equal(useSha256(plainSha256), true);
});
