/**
 * Canonical bytes: RFC 8785 (JCS). The library drops `undefined` members and honours `toJSON`; what reaches this function has been
 * through a schema or the strict parser, so neither occurs. A value JCS cannot write (NaN, a lone surrogate, a cycle) yields
 * undefined, and so can never equal the digest of anything.
 */
import canonicalize from 'canonicalize';

export function canonicalText(value: unknown): string | undefined {
  try {
    return canonicalize(value);
  } catch {
    return undefined;
  }
}
