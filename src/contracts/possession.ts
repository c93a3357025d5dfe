/**
 * What travels beside a lease: proofs of possession, client assertions, the token endpoint's answer, the local user token. Never
 * stored, so not among the published contracts. Source: RFC 9449, RFC 7523, RFC 8693, LEASE "Minting".
 */
import { z } from 'zod';
import { name, tenant } from './ids.ts';

const seconds = z.int().min(0).max(253_402_300_799);

/** The key in a proof's header. A proof must not carry a private key (RFC 9449 §4.3). */
export const proofJwk = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string().length(43),
  y: z.string().length(43),
  d: z.undefined().optional(),
});

/** RFC 9449 §4.2 with the digest of the body: base64url SHA-256 of its exact bytes, of the empty string for an empty body. */
export const proofClaims = z.looseObject({
  jti: z.string().min(1).max(128),
  htm: z.string().max(64),
  htu: z.string().max(2_048),
  iat: seconds,
  ath: z.string().max(64).optional(),
  caseops_bdg: z.string().max(64),
});
export type ProofClaims = z.infer<typeof proofClaims>;

/** What a holder reads of its own lease without verifying it. */
export const heldLeaseClaims = z.looseObject({
  jti: z.string().min(1),
  aud: z.string().min(1),
  exp: seconds,
  cnf: z.object({ jkt: z.string() }),
});
export type HeldLeaseClaims = z.infer<typeof heldLeaseClaims>;

/** RFC 7523 §3: a workload authenticates at the token endpoint. `iss` and `sub` are its client id. */
export const clientAssertionClaims = z.looseObject({
  iss: z.string().min(1).max(256),
  sub: z.string().min(1).max(256),
  aud: z.string().min(1).max(512),
  iat: seconds,
  exp: seconds,
  jti: z.string().min(1).max(128),
});
export type ClientAssertionClaims = z.infer<typeof clientAssertionClaims>;

/** RFC 8693 §2.2.1. */
export const exchangedToken = z.looseObject({
  access_token: z.string().min(1).max(16_384),
  issued_token_type: z.literal('urn:ietf:params:oauth:token-type:access_token'),
  token_type: z.literal('DPoP'),
  expires_in: z.int().min(1).max(300),
});

/** RFC 6749 §5.2, with our profile's words beside it. */
export const tokenError = z.looseObject({
  error: z.string().max(128),
  error_description: z.string().max(2_000).optional(),
  code: z.string().max(128).optional(),
});

/** The development issuer's token for the local API. Another `typ` than a lease's, so that neither can stand for the other. */
export const userTokenClaims = z.strictObject({
  iss: z.string(),
  sub: z.string().min(1).max(256),
  aud: z.string(),
  iat: seconds,
  exp: seconds,
  jti: z.string().min(1).max(128),
  tenant,
  roles: z.array(name).max(16),
});
export type UserTokenClaims = z.infer<typeof userTokenClaims>;
