/** Signing with a workload's key, synchronously (asynchronous signing finishes out of order). ES256 only. Source: LEASE. */
export interface PublicJwk {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
}

export interface Signer {
  /** RFC 7638 thumbprint of the public key. */
  readonly thumbprint: string;
  readonly publicJwk: PublicJwk;
  /** Compact JWS over the UTF-8 JSON of header and payload; `alg` is set to ES256. */
  sign(header: Readonly<Record<string, unknown>>, payload: Readonly<Record<string, unknown>>): string;
  /** The same over exactly this text, where its bytes matter: the canonical form of a card. */
  signText(header: Readonly<Record<string, unknown>>, payload: string): string;
}

export interface Verifier {
  /** True when `signature` (base64url, IEEE P1363) over `signingInput` is by `key`. */
  verify(key: PublicJwk, signingInput: string, signature: string): boolean;
}
