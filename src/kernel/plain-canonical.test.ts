import assert from 'node:assert/strict';
import { test } from 'node:test';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { canonicalText } from './canonical.ts';
import { plainCanonicalText, stringText } from './plain-canonical.ts';

/** What the full implementation writes; undefined where it refuses. */
function fullText(value: unknown): string | undefined {
  try {
    return canonicalize(value);
  } catch {
    return undefined;
  }
}

test('plain JSON is written in one pass as the full implementation writes it, byte for byte', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false }), (value) => {
      assert.equal(plainCanonicalText(value), fullText(value));
    }),
    { numRuns: 2_000 },
  );
});

test('any value at all has one canonical form or none, whichever way it takes', () => {
  const anything = fc.anything({
    withBoxedValues: true,
    withDate: true,
    withNullPrototype: true,
    withSparseArray: true,
    maxDepth: 4,
    stringUnit: 'binary',
  });
  fc.assert(
    fc.property(anything, (value) => {
      const full = fullText(value);
      assert.equal(canonicalText(value), full);
      const plain = plainCanonicalText(value);
      assert.ok(plain === undefined || plain === full);
    }),
    { numRuns: 5_000 },
  );
});

test('numbers, long lists of keys, keys of every kind, empty and dropped members are written as in RFC 8785', () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${(index * 37) % 60}`, index]));
  const values = [
    [-0, 0, 1e21, 1e-7, 0.1 + 0.2, -5, 2 ** 53],
    many,
    { b: 1, a: 2, 10: 3, 9: 4, '': 5, é: 6, '"': 7, ['n'.repeat(100)]: 8, '\u{1f600}': 9, '\ufb33': 10 },
    { gone: undefined, kept: [] },
    { gone: undefined },
    {},
    Object.assign(Object.create(null), { b: 1, a: [{}] }),
  ];
  for (const value of values) {
    assert.equal(plainCanonicalText(value), fullText(value));
    assert.notEqual(plainCanonicalText(value), undefined);
  }
});

test('what is not plain is left alone: toJSON, boxed and dated values, holes, what JSON cannot write, and great depth', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100; level += 1) deep = [{ deep }];
  const others = [
    { toJSON: () => 1 },
    new Date(0),
    Object(1),
    [undefined],
    Number.NaN,
    Infinity,
    '\ud800',
    { '\ud800': 1 },
    { a: Number.NaN },
    undefined,
    10n,
    deep,
  ];
  for (const value of others) assert.equal(plainCanonicalText(value), undefined);
  assert.equal(canonicalText(deep), fullText(deep));
});

test('a string is escaped where JSON needs it, and not written with a lone surrogate', () => {
  assert.equal(stringText('plain ~ text'), '"plain ~ text"');
  assert.equal(stringText('"\\\n\u0001é'), '"\\"\\\\\\n\\u0001é"');
  assert.equal(stringText('\udfff'), undefined);
});
