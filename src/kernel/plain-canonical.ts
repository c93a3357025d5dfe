/**
 * RFC 8785 of plain JSON in one pass: objects and arrays of literals, as parsers and schemas give them. Whatever is not that is left to
 * the full implementation: nothing here differs from it byte for byte. Source: RFC 8785 §3.2.
 */

/** Deeper values are left to the full implementation, which knows no depth. */
const DEPTH_COUNT_MAX = 64;
const SHORT_KEY_COUNT_MAX = 24;
/** Printable ASCII without quote and backslash is its own JSON. */
const NEEDS_ESCAPE = /[^ !#-[\]-~]/;
/** Names of members as they are written, for the few that make up most of what is hashed. */
const NAME_COUNT_MAX = 2_048;
const NAME_LENGTH_MAX = 64;
const names = new Map<string, string>();

/** Undefined for a value that is not plain JSON, or too deep: it may have a canonical form or none. */
export function plainCanonicalText(value: unknown): string | undefined {
  return textOf(value, 0);
}

function textOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return stringText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? `${value}` : undefined;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value === null) return 'null';
  if (typeof value !== 'object' || depth >= DEPTH_COUNT_MAX) return undefined;
  return Array.isArray(value) ? arrayText(value, depth) : objectText(value, depth);
}

/** A string as RFC 8785 writes it; undefined for one with a lone surrogate. */
export function stringText(text: string): string | undefined {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`;
  return text.isWellFormed() ? JSON.stringify(text) : undefined;
}

function arrayText(items: readonly unknown[], depth: number): string | undefined {
  if (items.length === 0) return '[]';
  let text = '[';
  for (let index = 0; index < items.length; index += 1) {
    const own = textOf(items[index], depth + 1);
    if (own === undefined) return undefined;
    text += index === 0 ? own : `,${own}`;
  }
  return `${text}]`;
}

function objectText(object: object, depth: number): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const members = object as Readonly<Record<string, unknown>>;
  let text = '';
  for (const key of sortedKeys(object)) {
    const value = members[key];
    // As JSON.stringify has it: a member without a value is no member.
    if (value === undefined) continue;
    const name = names.get(key) ?? nameText(key);
    const own = textOf(value, depth + 1);
    if (name === undefined || own === undefined) return undefined;
    text += text === '' ? `{${name}${own}` : `,${name}${own}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

function nameText(key: string): string | undefined {
  const text = stringText(key);
  if (text === undefined) return undefined;
  if (names.size < NAME_COUNT_MAX && key.length <= NAME_LENGTH_MAX) names.set(key, `${text}:`);
  return `${text}:`;
}

/** By UTF-16 code units. Few keys are put in order here: that is faster than the engine's sort. */
function sortedKeys(object: object): readonly string[] {
  const keys = Object.keys(object);
  if (keys.length > SHORT_KEY_COUNT_MAX) return keys.sort();
  let from = 0;
  for (const key of keys) {
    let to = from;
    for (; to > 0; to -= 1) {
      const before = keys[to - 1];
      if (before === undefined || before <= key) break;
      keys[to] = before;
    }
    keys[to] = key;
    from += 1;
  }
  return keys;
}
