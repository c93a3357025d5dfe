import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseStrictJson, type JsonLimits } from './strict-json.ts';

function valueOf(text: string | Uint8Array, limits?: JsonLimits): unknown {
  const parsed = parseStrictJson(text, limits);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.error.message);
  return parsed.value;
}

function refusal(
  text: string | Uint8Array,
  limits?: JsonLimits,
): readonly [code: string, pointer: unknown, offset: unknown] {
  const parsed = parseStrictJson(text, limits);
  assert.ok(!parsed.ok, `accepted ${JSON.stringify(parsed)}`);
  return [parsed.error.code, parsed.error.detail?.['pointer'], parsed.error.detail?.['offset']];
}

/** Values that break none of the rules: what JSON.parse and the strict parser must agree on. */
const lawful = fc.jsonValue({ noUnicodeString: false, maxDepth: 8 }).filter((value) => {
  const text = JSON.stringify(value);
  return !/\\u0000|\\ud[89a-f]/i.test(text) && !/\d{16}|e\+/i.test(text);
});

test('agrees with JSON.parse on every value that breaks no rule', () => {
  fc.assert(
    fc.property(lawful, fc.constantFrom(undefined, 1, 3), (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      assert.deepEqual(valueOf(text), JSON.parse(text));
      assert.deepEqual(valueOf(new TextEncoder().encode(text)), JSON.parse(text));
    }),
    { numRuns: 2_000 },
  );
});

test('accepts nothing that JSON.parse refuses', () => {
  const characters = fc.constantFrom(...'{}[]":,\\-+.eE0123456789 tfnrulas\t\n\u0000/bx'.split(''));
  fc.assert(
    fc.property(fc.array(characters, { maxLength: 24 }), (parts) => {
      const text = parts.join('');
      const parsed = parseStrictJson(text);
      if (parsed.ok) assert.deepEqual(parsed.value, JSON.parse(text));
      else if (parsed.error.code === 'ERR_JSON_SYNTAX') assert.throws(() => JSON.parse(text), text);
    }),
    { numRuns: 20_000 },
  );
});

test('a refusal says what was expected, where, and what came', () => {
  const said = (text: string, limits?: JsonLimits): string => {
    const parsed = parseStrictJson(text, limits);
    return parsed.ok ? '' : parsed.error.message;
  };
  assert.equal(
    said('{"a":[1 2]}'),
    'Strict JSON expected a comma or the end of the container at /a/1, offset 8, got "2".',
  );
  assert.match(said('{"a":'), /at \/a, offset 5, got the end of the text\.$/);
  assert.match(said('{"a":1,"a":2}'), /expected each member name once at \/a, offset 7, got a second one\.$/);
  assert.match(said('[[[]]]', { depthMax: 2 }), /expected at most 2 .+ got one more\.$/);
  assert.match(said('["\\u0000"]'), /expected a string without NUL and unpaired surrogates at \/0, .+ got one with\.$/);
  assert.match(said('[9007199254740993]'), /expected an integer within .+ got one beyond\.$/);
  assert.match(said('"abc"', { bytesMax: 4 }), /expected at most 4 bytes at the top, offset 0, got 5\.$/);
});

test('reads every escape of RFC 8259', () => {
  assert.equal(valueOf(String.raw`"\"\\\/\b\f\n\r\t\u0041\ud83d\ude00é"`), '"\\/\b\f\n\r\tA😀é');
});

test('refuses equal member names at any depth, also when one is escaped', () => {
  assert.deepEqual(refusal('{"a":1,"a":2}'), ['ERR_JSON_DUPLICATE_NAME', '/a', 7]);
  assert.deepEqual(refusal(String.raw`[{"x":{"a":1,"\u0061":2}}]`), ['ERR_JSON_DUPLICATE_NAME', '/0/x/a', 13]);
  assert.deepEqual(refusal('{"__proto__":1,"__proto__":2}')[0], 'ERR_JSON_DUPLICATE_NAME');
});

test('counts containers inside each other, and only those', () => {
  assert.deepEqual(valueOf('['.repeat(32) + ']'.repeat(32)), JSON.parse('['.repeat(32) + ']'.repeat(32)));
  assert.equal(refusal('['.repeat(33) + ']'.repeat(33))[0], 'ERR_JSON_DEPTH');
  assert.deepEqual(refusal('{"a":[1,[]]}', { depthMax: 2 }), ['ERR_JSON_DEPTH', '/a/1', 8]);
  assert.deepEqual(valueOf('[[],[],[]]', { depthMax: 2 }), [[], [], []]);
});

test('does not use the call stack for nesting', () => {
  const depth = 200_000;
  assert.ok(parseStrictJson('['.repeat(depth) + ']'.repeat(depth), { depthMax: depth }).ok);
});

test('refuses integers that a double cannot hold exactly', () => {
  assert.equal(valueOf('9007199254740991'), 9007199254740991);
  assert.equal(valueOf('-9007199254740991'), -9007199254740991);
  assert.equal(valueOf('1.5e3'), 1500);
  assert.equal(valueOf('0.1'), 0.1);
  for (const text of ['9007199254740992', '-9007199254740993', '1e400', '-1e400', '1e16', '9007199254740991.7'])
    assert.deepEqual(refusal(text), ['ERR_JSON_NUMBER', '', 0], text);
});

test('refuses NUL and unpaired surrogates in values and names, escaped or raw', () => {
  for (const text of [String.raw`["\u0000"]`, String.raw`["\ud800"]`, String.raw`["\ud800\u0041"]`, '["\udc00"]'])
    assert.deepEqual(refusal(text), ['ERR_JSON_UNICODE', '/0', 1], text);
  assert.equal(refusal(String.raw`{"\udfff":1}`)[0], 'ERR_JSON_UNICODE');
});

test('measures the size in bytes of UTF-8', () => {
  assert.equal(valueOf('"é"', { bytesMax: 4 }), 'é');
  assert.deepEqual(refusal('"éé"', { bytesMax: 5 }), ['ERR_JSON_SIZE', '', 0]);
  assert.equal(refusal(new Uint8Array(7), { bytesMax: 6 })[0], 'ERR_JSON_SIZE');
  assert.equal(refusal(`"${'a'.repeat(1_048_576)}"`)[0], 'ERR_JSON_SIZE');
});

test('refuses bytes that are not UTF-8 and a byte order mark', () => {
  assert.equal(refusal(new Uint8Array([0x22, 0xff, 0x22]))[0], 'ERR_JSON_SYNTAX');
  assert.equal(refusal(new Uint8Array([0xef, 0xbb, 0xbf, 0x31]))[0], 'ERR_JSON_SYNTAX');
});

test('names the place of a syntax error', () => {
  const cases: readonly (readonly [text: string, pointer: string, offset: number])[] = [
    ['', '', 0],
    ['{"a":1,}', '/a', 7],
    ['{"a" 1}', '/a', 5],
    ['{1:2}', '/', 1],
    ['[1 2]', '/1', 3],
    ['{"a":1]', '/a', 6],
    ['1 2', '', 2],
    ['tru', '', 0],
    ['fals', '', 0],
    ['nul', '', 0],
    ['+1', '', 0],
    ['"abc', '', 4],
    ['"a\nb"', '', 2],
    [String.raw`"\x41"`, '', 1],
    [String.raw`"\u00g1"`, '', 1],
  ];
  for (const [text, pointer, offset] of cases)
    assert.deepEqual(refusal(text), ['ERR_JSON_SYNTAX', pointer, offset], JSON.stringify(text));
});

test('keeps __proto__ as an own member and changes no prototype', () => {
  const value = valueOf('{"__proto__":{"admin":true},"a":1}') as Record<string, unknown>;
  assert.deepEqual(Object.keys(value), ['__proto__', 'a']);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal(value['admin'], undefined);
  assert.equal(JSON.stringify(value), '{"__proto__":{"admin":true},"a":1}');
});
