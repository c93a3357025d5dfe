/**
 * RFC 8785 of plain JSON in one pass: objects and arrays of literals, as parsers and schemas give them. Whatever is not that is left to
 * the full implementation: nothing here differs from it byte for byte. Source: RFC 8785 §3.2.
 */

/** Deeper values are left to the full implementation, which knows no depth. */
const DEPTH_COUNT_MAX = 64;
/** Printable ASCII without quote and backslash is its own JSON. */
const NEEDS_ESCAPE = /[^ !#-[\]-~]/;
/** Orders of members that are kept, and how many keys those may have. */
const ORDER_COUNT_MAX = 2_048;
const ORDER_KEY_COUNT_MAX = 64;
const KEY_LENGTH_MAX = 64;

/** The members of one kind of object: which they are, in order, and how each name is written, with its colon. */
interface Order {
  readonly keys: readonly string[];
  readonly sorted: readonly { readonly key: string; readonly name: string }[];
}

/** Most of what is hashed is of few kinds. By the last key. */
const orders = new Map<string, Order[]>();
let orderCount = 0;

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
  const order = orderOf(Object.keys(object));
  if (order === undefined) return undefined;
  const members = object as Readonly<Record<string, unknown>>;
  let text = '';
  for (const { key, name } of order.sorted) {
    const value = members[key];
    // As JSON.stringify has it: a member without a value is no member.
    if (value === undefined) continue;
    const own = textOf(value, depth + 1);
    if (own === undefined) return undefined;
    text += text === '' ? `{${name}${own}` : `,${name}${own}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Undefined where a name has a lone surrogate. */
function orderOf(keys: readonly string[]): Order | undefined {
  const last = keys.at(-1) ?? '';
  const known = orders.get(last);
  return known?.find((order) => isOf(order, keys)) ?? newOrder(keys, known ?? []);
}

function isOf(order: Order, keys: readonly string[]): boolean {
  if (order.keys.length !== keys.length) return false;
  let index = 0;
  for (const key of order.keys) {
    if (key !== keys[index]) return false;
    index += 1;
  }
  return true;
}

/** Sorted by UTF-16 code units. */
function newOrder(keys: readonly string[], known: Order[]): Order | undefined {
  const sorted: { readonly key: string; readonly name: string }[] = [];
  for (const key of keys.toSorted()) {
    const text = stringText(key);
    if (text === undefined) return undefined;
    sorted.push({ key, name: `${text}:` });
  }
  const order = { keys, sorted };
  const isSmall = keys.length <= ORDER_KEY_COUNT_MAX && keys.every((key) => key.length <= KEY_LENGTH_MAX);
  if (!isSmall || orderCount >= ORDER_COUNT_MAX) return order;
  orderCount += 1;
  known.push(order);
  orders.set(keys.at(-1) ?? '', known);
  return order;
}
