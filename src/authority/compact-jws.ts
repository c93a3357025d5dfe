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

/** Undefined when it is not exactly three base64url segments with a JSON object as header. Verifies nothing. */
export function readCompactJws(token: string): CompactJws | undefined {
  const [head, body, signature, more] = token.split('.', 4);
  if (!head || !body || signature === undefined || more !== undefined) return undefined;
  const headerBytes = decodeBase64Url(head);
  const payload = decodeBase64Url(body);
  if (headerBytes === undefined || payload === undefined) return undefined;
  const parsed = parseStrictJson(headerBytes, { bytesMax: HEADER_BYTES_MAX, depthMax: 8 });
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  return { header: parsed.value, payload, signingInput: `${head}.${body}`, signature };
}

/** True for a JSON object, false for null and arrays. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
