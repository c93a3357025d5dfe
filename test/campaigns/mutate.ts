/** Makes a malformed message out of a valid one: first its structure is changed, then perhaps its text. */
import type { Dice } from './seeded-dice.ts';

export interface Mutated {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The text itself is no lawful JSON for any reader of ours, whatever it says. */
  readonly illFormed: boolean;
  /** What was done, for a failure's report. */
  readonly how: string;
}

/** Mutates a message; now and then it is left as it is. */
export function mutate(message: unknown, dice: Dice): Mutated {
  const how: string[] = [];
  let value: unknown = structuredClone(message);
  for (let count = dice.below(4); count > 0; count--) {
    const change = changeOne(value, dice);
    value = change.value;
    how.push(change.how);
  }
  const text = JSON.stringify(value) ?? 'null';
  if (!dice.chance(0.35)) return { bytes: encode(text), illFormed: false, how: how.join(', ') };
  const broken = breakText(text, dice);
  return { ...broken, how: [...how, broken.how].join(', ') };
}

const STRINGS: readonly [string, ...string[]] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  'null',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  "'; drop table run; --",
  '<script>alert(1)</script>',
  '\u202eC-102',
  'Ｃ－１０２',
  '請求 C-102',
  '😀'.repeat(40),
  'x'.repeat(300),
  'x'.repeat(21_000),
  'C-999999999999',
  '2026-02-30T25:61:00Z',
  'sha256:zz',
  'run_',
  '{{7*7}}',
  'http://169.254.169.254/',
];
const NUMBERS: readonly [number, ...number[]] = [0, -1, 0.5, 1e21, -0, 2 ** 53 - 1, 1e308, 4_294_967_296];

function hostile(dice: Dice): unknown {
  switch (dice.below(9)) {
    case 0:
      return null;
    case 1:
      return dice.chance(0.5);
    case 2:
      return dice.one(NUMBERS);
    case 3:
      return [];
    case 4:
      return {};
    case 5:
      return nested(dice.below(60), dice);
    case 6:
      return Array.from({ length: dice.below(200) }, () => dice.one(STRINGS));
    default:
      return dice.one(STRINGS);
  }
}

function nested(depth: number, dice: Dice): unknown {
  let value: unknown = dice.one(STRINGS);
  for (let level = 0; level < depth; level++) value = dice.chance(0.5) ? [value] : { a: value };
  return value;
}

type Container = unknown[] | Record<string, unknown>;

/** Replaces, drops, doubles, renames or adds at one place, any place. */
function changeOne(root: unknown, dice: Dice): { readonly value: unknown; readonly how: string } {
  const places = placesOf(root);
  if (places.length === 0 || dice.chance(0.03)) return { value: hostile(dice), how: 'whole' };
  const [first] = places;
  const { at, key } = places[dice.below(places.length)] ?? first ?? { at: [], key: 0 };
  const how = (what: string) => ({ value: root, how: `${what} ${String(key)}` });
  const held = (at as Record<string | number, unknown>)[key];
  switch (dice.below(6)) {
    case 0:
      if (Array.isArray(at)) at.splice(Number(key), 1);
      else delete at[key];
      return how('drop');
    case 1:
      if (Array.isArray(at)) at.push(structuredClone(held));
      else put(at, `${key}${dice.one(['', '2', ' ', '\u0000'])}x`, structuredClone(held));
      return how('double');
    case 2:
      if (Array.isArray(at)) at.push(hostile(dice));
      else put(at, dice.one(STRINGS), hostile(dice));
      return how('add to');
    default:
      put(at, key, hostile(dice));
      return how('replace');
  }
}

/** As JSON would: `__proto__` is a member like any other. */
function put(at: Container, key: string | number, value: unknown): void {
  Object.defineProperty(at, key, { value, enumerable: true, configurable: true, writable: true });
}

function placesOf(root: unknown): { readonly at: Container; readonly key: string | number }[] {
  const found: { readonly at: Container; readonly key: string | number }[] = [];
  const open: unknown[] = [root];
  for (let value = open.pop(); value !== undefined && found.length < 500; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const at = value as Container;
    for (const [key, child] of Object.entries(at)) {
      found.push({ at, key });
      open.push(child);
    }
  }
  return found;
}

type Broken = Pick<Mutated, 'bytes' | 'illFormed' | 'how'>;

function breakText(text: string, dice: Dice): Broken {
  const at = dice.below(text.length + 1);
  const ill = (changed: string, how: string): Broken => ({ bytes: encode(changed), illFormed: true, how });
  switch (dice.below(9)) {
    case 0:
      // Half a number may be a number.
      return /^[[{"]/.test(text) ? ill(text.slice(0, 1 + dice.below(text.length - 1)), 'cut') : ill('', 'cut');
    case 1:
      return ill(`${text}${dice.one(['}', ']', ',', 'x', '{}'])}`, 'more after the end');
    case 2:
      return ill(inString(text, dice.one(['\\ud800', '\\udfff', '\\u0000'])), 'unpaired surrogate or NUL');
    case 3:
      return text.startsWith('{') && text.length > 2
        ? ill(`{"a":1,"a":2,${text.slice(1)}`, 'equal names')
        : ill('{"a":1,"a":2}', 'equal names');
    case 4:
      return ill(`${'['.repeat(40)}${text}${']'.repeat(40)}`, 'too deep');
    case 5:
      return ill(dice.one(['NaN', 'Infinity', "{'a':1}", '[1,]', '01', '9007199254740993', '{"a":1,}', '']), 'no JSON');
    case 6: {
      const bytes = encode(`"${text.length}"`);
      bytes[1] = 0xff;
      return { bytes, illFormed: true, how: 'no UTF-8' };
    }
    case 7:
      return ill(`\ufeff${text}`, 'byte order mark');
    default: {
      // One byte, any byte: it may well stay lawful.
      const bytes = encode(text);
      if (bytes.length > 0) bytes[at % bytes.length] = dice.below(256);
      return { bytes, illFormed: false, how: 'one byte' };
    }
  }
}

/** Puts an escape into the first string of a text, or makes it one. */
function inString(text: string, escape: string): string {
  const quote = text.indexOf('"');
  return quote < 0 ? `"${escape}"` : `${text.slice(0, quote + 1)}${escape}${text.slice(quote + 1)}`;
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}
