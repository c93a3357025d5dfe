import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalText } from './canonical.ts';
import { digestOf, digestOfBytes } from './digest.ts';

const EMPTY = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

test('a digest of bytes is sha-256 in lower-case hex, and a text is its UTF-8 bytes', () => {
  assert.equal(digestOfBytes(''), EMPTY);
  assert.equal(digestOfBytes(new Uint8Array()), EMPTY);
  assert.equal(digestOfBytes('é'), digestOfBytes(Uint8Array.of(0xc3, 0xa9)));
});

test('the order of members does not change the digest of a value; its values do', () => {
  assert.equal(digestOf({ a: 1, b: [true, null] }), digestOf({ b: [true, null], a: 1 }));
  assert.notEqual(digestOf({ a: 1 }), digestOf({ a: 2 }));
  assert.equal(canonicalText({ b: 1.0, a: 'x' }), '{"a":"x","b":1}');
});

test('what has no canonical form has a digest that no JSON value has', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  for (const value of [Number.NaN, cycle, undefined]) {
    assert.equal(canonicalText(value), undefined);
    assert.equal(digestOf(value), digestOfBytes('!not-canonical'));
  }
});
