import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { plainSha256 } from '#kernel/sha256.ts';
import { nativeSha256 } from './native-sha256.ts';

test('the platform and the kernel give every text the same digest, lone surrogates too', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => nativeSha256(text) === plainSha256(text)),
    { numRuns: 1_000 },
  );
  for (const text of ['\ud800', 'a\udfff', '\udc00\ud800', '\u0000'])
    assert.equal(nativeSha256(text), plainSha256(text));
});

test('the platform and the kernel give all bytes the same digest, at every length around a block', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => nativeSha256(bytes) === plainSha256(bytes)));
  for (let length = 0; length <= 130; length += 1)
    assert.equal(nativeSha256(new Uint8Array(length)), plainSha256(new Uint8Array(length)));
});
