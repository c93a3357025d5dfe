/** Reading a compact JWS (RFC 7515 §3.1) without trusting it: three strict segments, a strict JSON header, a payload still as bytes. */
import { parseStrictJson } from '#kernel/strict-json.ts';
import { decodeBase64Url } from './base64url.ts';

export interface CompactJws {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Uint8Array;
  readonly signingInput: string;
  readonly signature: string;
}

const HEADER_BYTES_MAX = 4_096;
const HEADER_COUNT_MAX = 1_024;

/** Undefined when it is not exactly three base64url segments with a JSON object as header. Verifies nothing. */
export function readCompactJws(token: string): CompactJws | undefined {
  const [head, body, signature, more] = token.split('.', 4);
  if (!head || !body || signature === undefined || more !== undefined) return undefined;
  const header = readHeader(head);
  const payload = decodeBase64Url(body);
  if (header === undefined || payload === undefined) return undefined;
  return { header, payload, signingInput: `${head}.${body}`, signature };
}

/** Headers by their text: one sender writes the same one each time, and reading is pure. The oldest gives way. */
const headers = new Map<string, Readonly<Record<string, unknown>>>();

function readHeader(segment: string): Readonly<Record<string, unknown>> | undefined {
  const known = headers.get(segment);
  if (known !== undefined) return known;
  const bytes = decodeBase64Url(segment);
  if (bytes === undefined) return undefined;
  const parsed = parseStrictJson(bytes, { bytesMax: HEADER_BYTES_MAX, depthMax: 8 });
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  if (headers.size >= HEADER_COUNT_MAX) {
    const oldest = headers.keys().next();
    if (oldest.done !== true) headers.delete(oldest.value);
  }
  headers.set(segment, Object.freeze(parsed.value));
  return parsed.value;
}

/** True for a JSON object, false for null and arrays. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
