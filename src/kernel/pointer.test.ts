import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapePointer, resolvePointer } from './pointer.ts';

/** The examples of RFC 6901 section 5, and an array with members that are containers. */
const DOCUMENT = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'm~n': 8, list: [{ id: 'C-102' }], nothing: null };

function at(pointer: string): unknown {
  const resolved = resolvePointer(DOCUMENT, pointer);
  return resolved.found ? resolved.value : 'not found';
}

test('a pointer finds the whole, members, elements and escaped names', () => {
  assert.equal(at(''), DOCUMENT);
  assert.equal(at('/foo/0'), 'bar');
  assert.equal(at('/'), 0);
  assert.equal(at('/a~1b'), 1);
  assert.equal(at('/m~0n'), 8);
  assert.equal(at('/list/0/id'), 'C-102');
  assert.equal(at('/nothing'), null);
});

test('what is not there is not found: no index past the end, with a leading zero or `-`, no member of a value or prototype', () => {
  for (const pointer of [
    'foo',
    '/foo/2',
    '/foo/01',
    '/foo/-',
    '/foo/bar',
    '/nothing/x',
    '/foo/0/x',
    '/toString',
    '/gone',
  ])
    assert.equal(at(pointer), 'not found', pointer);
});

test('an escaped part points at the member of that very name', () => {
  for (const name of ['a/b', 'm~n', '~1', '']) {
    const value = { [name]: 'here' };
    assert.deepEqual(resolvePointer(value, `/${escapePointer(name)}`), { found: true, value: 'here' });
  }
});
