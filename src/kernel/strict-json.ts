/**
 * Strict JSON: what crosses a boundary as bytes is read here and nowhere else. `JSON.parse` keeps the last of two equal names, rounds
 * large integers and lets unpaired surrogates pass; each of those lets two readers see two messages. Source: LEASE "Checking"; RFC 7493.
 */
import type { ErrorRecord } from '#contracts/error.ts';
import { failure } from './failure.ts';
import { peek, refuse, scanNumber, scanString, type JsonCursor, type JsonFault } from './json-scan.ts';
import { escapePointer } from './pointer.ts';

export interface JsonLimits {
  /** Of the UTF-8 form. Default 1 MiB. */
  readonly bytesMax?: number;
  /** Containers inside each other. Default 32. */
  readonly depthMax?: number;
}

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ErrorRecord };

const JSON_BYTES_MAX = 1_048_576;
const JSON_DEPTH_MAX = 32;

/**
 * Reads one JSON text. Refuses, each with its own code: malformed UTF-8 or JSON (ERR_JSON_SYNTAX), equal member names
 * (ERR_JSON_DUPLICATE_NAME), nesting beyond `depthMax` (ERR_JSON_DEPTH), integers beyond ±(2^53 − 1) and numbers that are not
 * finite (ERR_JSON_NUMBER), NUL and unpaired surrogates (ERR_JSON_UNICODE), more than `bytesMax` bytes (ERR_JSON_SIZE).
 * The error's detail says where: `pointer` and `offset` (UTF-16). A member `__proto__` is an own member like any other.
 * Linear in time; the call stack does not grow with the input.
 */
export function parseStrictJson(input: Uint8Array | string, limits: JsonLimits = {}): ParsedJson {
  const bytesMax = limits.bytesMax ?? JSON_BYTES_MAX;
  const size = typeof input === 'string' ? utf8Length(input, bytesMax) : input.byteLength;
  if (size > bytesMax)
    return refused({ code: 'ERR_JSON_SIZE', at: 0, expected: `at most ${bytesMax} bytes` }, '', `${size}`);
  const text = typeof input === 'string' ? input : decode(input);
  if (text === undefined)
    return refused({ code: 'ERR_JSON_SYNTAX', at: 0, expected: 'well-formed UTF-8' }, '', 'other bytes');
  const cursor: JsonCursor = { text, at: 0, fault: undefined };
  const path: Frame[] = [];
  const value = readDocument(cursor, path, limits.depthMax ?? JSON_DEPTH_MAX);
  const { fault } = cursor;
  return fault === undefined ? { ok: true, value } : refused(fault, pointerOf(path), gotAt(text, fault));
}

/** A container being filled, and the place in it that the next value takes. */
type Frame =
  | { readonly kind: 'array'; readonly into: unknown[] }
  | { readonly kind: 'object'; readonly into: Record<string, unknown>; name: string };

function readDocument(cursor: JsonCursor, path: Frame[], depthMax: number): unknown {
  for (;;) {
    let value = readValue(cursor, path, depthMax);
    // A container that was just opened and is not empty: its first value comes next.
    while (value !== OPENED) {
      const frame = path.at(-1);
      if (cursor.fault !== undefined) return undefined;
      if (frame === undefined) {
        if (peek(cursor) !== '') refuse(cursor, 'ERR_JSON_SYNTAX', 'the end of the text');
        return value;
      }
      put(frame, value);
      value = afterValue(cursor, path, frame);
    }
  }
}

const OPENED = Symbol('opened');

/** A scalar or an empty container as a value; a container that has members is pushed and OPENED returned. */
function readValue(cursor: JsonCursor, path: Frame[], depthMax: number): unknown {
  switch (peek(cursor)) {
    case '"':
      return scanString(cursor);
    case '{':
      return open(cursor, path, { frame: { kind: 'object', into: {}, name: '' }, close: '}', depthMax });
    case '[':
      return open(cursor, path, { frame: { kind: 'array', into: [] }, close: ']', depthMax });
    case 't':
      return word(cursor, 'true', true);
    case 'f':
      return word(cursor, 'false', false);
    case 'n':
      return word(cursor, 'null', null);
    default:
      return scanNumber(cursor);
  }
}

function word(cursor: JsonCursor, text: string, value: boolean | null): boolean | null {
  if (cursor.text.startsWith(text, cursor.at)) cursor.at += text.length;
  else refuse(cursor, 'ERR_JSON_SYNTAX', `the word ${text}`);
  return value;
}

function open(
  cursor: JsonCursor,
  path: Frame[],
  how: { readonly frame: Frame; readonly close: string; readonly depthMax: number },
): unknown {
  if (path.length >= how.depthMax) {
    refuse(cursor, 'ERR_JSON_DEPTH', `at most ${how.depthMax} containers inside each other`);
    return undefined;
  }
  cursor.at += 1;
  if (peek(cursor) === how.close) {
    cursor.at += 1;
    return how.frame.into;
  }
  path.push(how.frame);
  if (how.frame.kind === 'object') readName(cursor, how.frame);
  return cursor.fault === undefined ? OPENED : undefined;
}

function readName(cursor: JsonCursor, frame: Frame & { kind: 'object' }): void {
  if (peek(cursor) !== '"') return refuse(cursor, 'ERR_JSON_SYNTAX', 'a member name');
  const start = cursor.at;
  frame.name = scanString(cursor);
  if (Object.hasOwn(frame.into, frame.name)) {
    cursor.at = start;
    return refuse(cursor, 'ERR_JSON_DUPLICATE_NAME', 'each member name once');
  }
  if (peek(cursor) === ':') cursor.at += 1;
  else refuse(cursor, 'ERR_JSON_SYNTAX', 'a colon');
}

function put(frame: Frame, value: unknown): void {
  if (frame.kind === 'array') frame.into.push(value);
  else if (frame.name === '__proto__')
    Object.defineProperty(frame.into, '__proto__', { value, enumerable: true, configurable: true, writable: true });
  else frame.into[frame.name] = value;
}

/** After a member: OPENED when another follows, else the finished container, which is then a value itself. */
function afterValue(cursor: JsonCursor, path: Frame[], frame: Frame): unknown {
  const next = peek(cursor);
  if (next === ',') {
    cursor.at += 1;
    if (frame.kind === 'object') readName(cursor, frame);
    return cursor.fault === undefined ? OPENED : undefined;
  }
  if (next !== (frame.kind === 'array' ? ']' : '}')) {
    refuse(cursor, 'ERR_JSON_SYNTAX', 'a comma or the end of the container');
    return undefined;
  }
  cursor.at += 1;
  path.pop();
  return frame.into;
}

function pointerOf(path: readonly Frame[]): string {
  return path.map((frame) => `/${frame.kind === 'array' ? frame.into.length : escapePointer(frame.name)}`).join('');
}

const GOT: Readonly<Partial<Record<JsonFault['code'], string>>> = {
  ERR_JSON_DUPLICATE_NAME: 'a second one',
  ERR_JSON_DEPTH: 'one more',
  ERR_JSON_UNICODE: 'one with',
  ERR_JSON_NUMBER: 'one beyond',
};

/** Of the text itself no more than the one character at which reading stopped. */
function gotAt(text: string, { code, at }: JsonFault): string {
  const stop = text.charAt(at);
  return GOT[code] ?? (stop === '' ? 'the end of the text' : JSON.stringify(stop));
}

function refused(fault: JsonFault, pointer: string, got: string): ParsedJson {
  const where = `${pointer === '' ? 'the top' : pointer.slice(0, 200)}, offset ${fault.at}`;
  const message = `Strict JSON expected ${fault.expected} at ${where}, got ${got}.`;
  return {
    ok: false,
    error: failure(fault.code, message, { pointer: pointer.toWellFormed().slice(0, 512), offset: fault.at }),
  };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Exact where it matters: a text that is certainly within the bound is not measured. */
function utf8Length(text: string, bytesMax: number): number {
  return text.length * 3 <= bytesMax ? text.length : new TextEncoder().encode(text).byteLength;
}
