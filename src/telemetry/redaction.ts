/**
 * Cleans what is logged: names that carry secrets, values that look like secrets, and free text beyond a bound. Cleaning is by name and by
 * value, since neither alone holds. Source: SECURITY "Secrets"; issue "structured logs with redaction".
 */
const REDACTED = '[redacted]';
const TEXT_LENGTH_MAX = 256;
const DEPTH_MAX = 4;
const ENTRY_COUNT_MAX = 32;

const SECRET_NAME =
  /token|authorization|proof|dpop|cookie|secret|password|passphrase|credential|assertion|private|api[-_]?key|^key$|[a-z]Key$|[-_]key$|jwk|signature|session/i;
/** Known by name, and harmless: they name a thing or count one. */
const HARMLESS_NAME = /^(sessionId|idempotencyKeyDigest|modelTokenCount\w*|tokenEndpoint)$/;
const SECRET_VALUE: readonly RegExp[] = [
  // JWS and JWE in compact form, also inside a sentence.
  /\beyJ[\w-]{4,}(?:\.[\w-]*){1,4}/g,
  /\b(?:DPoP|Bearer|Basic)\s+[\w.~+/=-]{6,}/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /([?&;]\s*(?:key|token|access_token|code|secret|signature|sig)=)[^\s&;"']+/gi,
  /\b(?:sk|ghp|gho|xox[abp]|AKIA)[-_]?[A-Za-z0-9_-]{12,}/g,
];

/** The same value without secrets, bounded in length, depth and number of entries. Never throws. */
export function redact(value: unknown, depth = 0): unknown {
  switch (typeof value) {
    case 'string':
      return redactText(value);
    case 'number':
    case 'boolean':
    case 'undefined':
      return value;
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? null : redactObject(value, depth);
    case 'function':
    case 'symbol':
      return `[${typeof value}]`;
  }
}

/** Secrets first, then the cut: a secret that is cut in half is still half a secret. */
export function redactText(text: string): string {
  const clean = SECRET_VALUE.reduce(
    (rest, pattern) =>
      rest.replace(pattern, (_all, kept?: unknown) => `${typeof kept === 'string' ? kept : ''}${REDACTED}`),
    text.slice(0, TEXT_LENGTH_MAX * 64),
  );
  return clean.length <= TEXT_LENGTH_MAX ? clean : `${clean.slice(0, TEXT_LENGTH_MAX)}… (${text.length} characters)`;
}

function redactObject(value: object, depth: number): unknown {
  if (depth >= DEPTH_MAX) return '[deeper]';
  if (value instanceof Error) return { name: value.name, message: redactText(value.message) };
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) {
    const kept = value.slice(0, ENTRY_COUNT_MAX).map((item) => redact(item, depth + 1));
    return value.length > ENTRY_COUNT_MAX ? [...kept, `[${value.length - ENTRY_COUNT_MAX} more]`] : kept;
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, ENTRY_COUNT_MAX)
      .map(([name, item]) => [redactText(name), isSecret(name, item) ? REDACTED : redact(item, depth + 1)]),
  );
}

function isSecret(name: string, value: unknown): boolean {
  return value !== undefined && value !== null && SECRET_NAME.test(name) && !HARMLESS_NAME.test(name);
}
