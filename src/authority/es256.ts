/**
 * ES256 (RFC 7518 §3.4) with `node:crypto`, synchronous: asynchronous verification finishes out of order, which breaks replay
 * detection. Source: LEASE "Checking".
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto';
import { CaseOpsError } from '#contracts/error.ts';
import type { PublicJwk, Signer, Verifier } from '#ports/signer.ts';
import { decodeBase64Url, encodeBase64Url } from './base64url.ts';
import { sha256Base64Url } from './sha256.ts';

/** A workload's or issuer's key. A secret: never in events, logs or messages. */
export interface PrivateJwk extends PublicJwk {
  readonly d: string;
}

const KEY_COUNT_MAX = 1_024;
const SIGNATURE_BYTES = 64;

/** Signs with a P-256 key. Throws CaseOpsError (ERR_CONFIG) when the JWK is none; the message never holds key material. */
export function createSigner(privateJwk: PrivateJwk): Signer {
  const { kty, crv, x, y, d } = privateJwk;
  const key = importPrivate({ kty, crv, x, y, d });
  const publicJwk: PublicJwk = { kty, crv, x, y };
  const signText: Signer['signText'] = (header, payload) => {
    const input = `${encodeBase64Url(JSON.stringify({ ...header, alg: 'ES256' }))}.${encodeBase64Url(payload)}`;
    const signature = sign('sha256', Buffer.from(input, 'ascii'), { key, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  };
  return {
    thumbprint: thumbprint(publicJwk),
    publicJwk,
    sign: (header, payload) => signText(header, JSON.stringify(payload)),
    signText,
  };
}

/** A fresh key. */
export function generateSigner(): Signer {
  return createSigner(generatePrivateJwk());
}

/** A fresh key as a JWK, for a process that hands it on to its child. */
export function generatePrivateJwk(): PrivateJwk {
  const { x, y, d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  if (x === undefined || y === undefined || d === undefined) {
    throw new CaseOpsError('ERR_CONFIG', 'Expected a P-256 key from the platform; it gave none.', { at: 'authority' });
  }
  return { kty: 'EC', crv: 'P-256', x, y, d };
}

/** RFC 7638 thumbprint, SHA-256, base64url. */
export function thumbprint(key: PublicJwk): string {
  return sha256Base64Url(JSON.stringify({ crv: key.crv, kty: key.kty, x: key.x, y: key.y }));
}

/** False for a signature that is not 64 bytes in strict base64url, for a key that is no point of the curve, and for a wrong one. */
export const verifier: Verifier = {
  verify(key, signingInput, signature) {
    const bytes = decodeBase64Url(signature);
    if (bytes === undefined || bytes.length !== SIGNATURE_BYTES) return false;
    const publicKey = importPublic(key);
    if (publicKey === undefined) return false;
    return verify('sha256', Buffer.from(signingInput, 'utf8'), { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes);
  },
};

const publicKeys = new Map<string, KeyObject>();

/** Importing costs half a verification, so the last keys are kept; the oldest gives way. */
function importPublic(key: PublicJwk): KeyObject | undefined {
  const id = `${key.x}.${key.y}`;
  const known = publicKeys.get(id);
  if (known !== undefined) return known;
  try {
    const { kty, crv, x, y } = key;
    const imported = createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' });
    if (publicKeys.size >= KEY_COUNT_MAX) {
      const oldest = publicKeys.keys().next();
      if (oldest.done !== true) publicKeys.delete(oldest.value);
    }
    publicKeys.set(id, imported);
    return imported;
  } catch {
    return undefined;
  }
}

function importPrivate(key: PrivateJwk): KeyObject {
  try {
    return createPrivateKey({ key: { ...key }, format: 'jwk' });
  } catch {
    throw new CaseOpsError('ERR_CONFIG', 'Expected a private P-256 JWK with kty, crv, x, y and d; this is none.', {
      at: 'authority',
    });
  }
}
