/** The tokens of strict JSON: white space, strings and numbers, read at a cursor in linear time. Source: RFC 8259, RFC 7493. */
import type { ErrorCode } from '#contracts/error.ts';

export type JsonCode = Extract<ErrorCode, `ERR_JSON_${string}`>;

/** Why reading stopped, and at which UTF-16 offset of the text. */
export interface JsonFault {
  readonly code: JsonCode;
  readonly at: number;
  readonly expected: string;
}

export interface JsonCursor {
  readonly text: string;
  at: number;
  /** Set once; what a scan returned is then meaningless. */
  fault: JsonFault | undefined;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Everything a string may hold as it is, up to its end, an escape or what is forbidden. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
const HEX4 = /^[0-9a-fA-F]{4}$/;
/** Tab, line feed, carriage return, space. */
const SPACES: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20]);
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** Records the first fault; later ones are ignored. */
export function refuse(cursor: JsonCursor, code: JsonCode, expected: string): void {
  cursor.fault ??= { code, at: cursor.at, expected };
}

/** Moves past white space and returns the character there, or '' at the end. */
export function peek(cursor: JsonCursor): string {
  while (SPACES.has(cursor.text.charCodeAt(cursor.at))) cursor.at += 1;
  return cursor.text.charAt(cursor.at);
}

/** Reads a string whose opening quote is at the cursor. Refuses NUL and unpaired surrogates, escaped or not. */
export function scanString(cursor: JsonCursor): string {
  const start = cursor.at;
  let value = '';
  cursor.at += 1;
  while (cursor.fault === undefined) {
    PLAIN.lastIndex = cursor.at;
    PLAIN.test(cursor.text);
    value += cursor.text.slice(cursor.at, PLAIN.lastIndex);
    cursor.at = PLAIN.lastIndex;
    const stop = cursor.text.charAt(cursor.at);
    if (stop === '"') break;
    if (stop === '\\') value += scanEscape(cursor);
    else refuse(cursor, 'ERR_JSON_SYNTAX', 'a closing quote, and control characters escaped');
  }
  if (cursor.fault !== undefined) return value;
  if (!value.isWellFormed() || value.includes('\0')) {
    cursor.at = start;
    refuse(cursor, 'ERR_JSON_UNICODE', 'a string without NUL and unpaired surrogates');
  } else cursor.at += 1;
  return value;
}

function scanEscape(cursor: JsonCursor): string {
  const letter = cursor.text.charAt(cursor.at + 1);
  const simple = ESCAPES.get(letter);
  if (simple !== undefined) {
    cursor.at += 2;
    return simple;
  }
  const hex = cursor.text.slice(cursor.at + 2, cursor.at + 6);
  if (letter !== 'u' || !HEX4.test(hex)) {
    refuse(cursor, 'ERR_JSON_SYNTAX', 'an escape of RFC 8259');
    return '';
  }
  cursor.at += 6;
  return String.fromCharCode(Number.parseInt(hex, 16));
}

/** Reads a number at the cursor. Refuses what a double cannot hold: not finite, or an integer beyond ±(2^53 − 1). */
export function scanNumber(cursor: JsonCursor): number {
  NUMBER.lastIndex = cursor.at;
  if (!NUMBER.test(cursor.text)) {
    refuse(cursor, 'ERR_JSON_SYNTAX', 'a value');
    return 0;
  }
  const end = NUMBER.lastIndex;
  const value = Number(cursor.text.slice(cursor.at, end));
  const whole = !Number.isFinite(value) || Number.isInteger(value);
  if (whole && !Number.isSafeInteger(value)) refuse(cursor, 'ERR_JSON_NUMBER', 'an integer within ±(2^53 − 1)');
  else cursor.at = end;
  return value;
}
