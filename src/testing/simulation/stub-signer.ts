/**
 * Signatures without curves, for many simulated runs: a digest over key and input. Fast, repeatable, worthless outside of a simulation.
 * With real signatures the same simulation runs under ES256.
 */
import { generateSigner, thumbprint, verifier } from '#authority/es256.ts';
import { nativeSha256 } from '#drivers/local/native-sha256.ts';
import type { PublicJwk, Signer, Verifier } from '#ports/signer.ts';

export type Signing = 'stub' | 'real';

/** Keys by the name of their holder, and who verifies them. */
export interface Keys {
  of(holder: string): Signer;
  readonly verifier: Verifier;
}

/** Real keys are fresh and kept for this process: no event holds a key or a signature, so a run repeats under other keys. */
export function keysFor(signing: Signing): Keys {
  const made = new Map<string, Signer>();
  const make = signing === 'real' ? generateSigner : stubSigner;
  return {
    of: (holder) => {
      const known = made.get(holder) ?? make(holder);
      made.set(holder, known);
      return known;
    },
    verifier: signing === 'real' ? verifier : stubVerifier,
  };
}

function stubSigner(holder: string): Signer {
  const publicJwk: PublicJwk = { kty: 'EC', crv: 'P-256', x: coordinate(`x ${holder}`), y: coordinate(`y ${holder}`) };
  const signText: Signer['signText'] = (header, payload) => {
    const input = `${encode(JSON.stringify({ ...header, alg: 'ES256' }))}.${encode(payload)}`;
    return `${input}.${stubSignature(publicJwk, input)}`;
  };
  return {
    thumbprint: thumbprint(publicJwk),
    publicJwk,
    sign: (header, payload) => signText(header, JSON.stringify(payload)),
    signText,
  };
}

const stubVerifier: Verifier = {
  verify: (key, signingInput, signature) => signature === stubSignature(key, signingInput),
};

function stubSignature({ x }: PublicJwk, input: string): string {
  const digest = nativeSha256(`${x} ${input}`);
  return Buffer.from(digest + digest, 'hex').toString('base64url');
}

function coordinate(text: string): string {
  return Buffer.from(nativeSha256(text), 'hex').toString('base64url');
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}
