/** base64url without padding (RFC 7515 §2), strict: one text per byte string, so that no token has two spellings. */

/** Undefined for padding, foreign characters, a length that cannot be, or unused bits that are not zero. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** Of bytes, or of a string's UTF-8 bytes. */
export function encodeBase64Url(data: Uint8Array | string): string {
  return (typeof data === 'string' ? Buffer.from(data, 'utf8') : Buffer.from(data)).toString('base64url');
}
