/**
 * Canonical bytes: RFC 8785 (JCS). Members that are `undefined` are dropped and `toJSON` is honoured; what reaches this function has been
 * through a schema or the strict parser, so neither occurs. A value JCS cannot write (NaN, a lone surrogate, a cycle) yields
 * undefined, and so can never equal the digest of anything.
 */
import canonicalize from 'canonicalize';
import { plainCanonicalText } from './plain-canonical.ts';

/** Plain JSON takes the short way; everything else, and what has no canonical form, the full one. */
export function canonicalText(value: unknown): string | undefined {
  const plain = plainCanonicalText(value);
  if (plain !== undefined) return plain;
  try {
    return canonicalize(value);
  } catch {
    return undefined;
  }
}
