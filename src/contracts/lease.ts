/**
 * The authority lease, profile v1: a sender-constrained JWT access token for one actor, action, resource, person, purpose and task.
 * Source: LEASE.md; RFC 9068 (token), RFC 7800/9449 (cnf, proof), RFC 8693 (act), RFC 9396 (authorization_details).
 */
import { z } from 'zod';
import { action, digest, name, runId, stepId, tenant } from './ids.ts';

export const LEASE_EXTENSION = 'urn:caseops:ext:authority-lease:v1';
export const LEASE_DETAIL_TYPE = 'urn:caseops:lease:v1';
export const LEASE_LIFETIME_S_MAX = 300;
export const LEASE_LIFETIME_S_DEFAULT = 120;
export const LEASE_LIFETIME_S_EFFECT = 60;
export const LEASE_BYTES_MAX = 16_384;

const scalar = z.union([z.string().max(1_024), z.number(), z.boolean()]);

/** Bounds on one argument. Closed world: an argument that is not named here is refused. */
export const bound = z.union([
  z.strictObject({ exact: scalar }),
  z.strictObject({ one_of: z.array(scalar).min(1).max(256) }),
  z.strictObject({ subset: z.array(scalar).max(256) }),
  z.strictObject({ min: z.number(), max: z.number() }),
  z.strictObject({ max: z.number() }),
  z.strictObject({ min: z.number() }),
]);
export type Bound = z.infer<typeof bound>;

export const leaseDetail = z.strictObject({
  type: z.literal(LEASE_DETAIL_TYPE),
  /** Audiences to which a child of this lease may be addressed. */
  locations: z.array(z.string().max(512)).max(16),
  actions: z.array(action).min(1).max(16),
  resources: z.array(z.string().max(256)).min(1).max(64),
  datatypes: z.array(name).max(16),
  purpose: name,
  bounds: z.record(z.string().max(128), bound),
});
export type LeaseDetail = z.infer<typeof leaseDetail>;

/** RFC 8693 actor chain, outermost actor first. At most 8 deep. */
export type Actor = { readonly sub: string; readonly act?: Actor | undefined };
export const actor: z.ZodType<Actor> = z.lazy(() =>
  z.strictObject({ sub: z.string().min(1).max(256), act: actor.optional() }),
);

const seconds = z.int().min(0).max(253_402_300_799);
const b64url = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

export const leaseClaims = z.strictObject({
  iss: z.string().min(1).max(512),
  sub: z.string().min(1).max(256),
  aud: z.string().min(1).max(512),
  client_id: z.string().min(1).max(256),
  iat: seconds,
  nbf: seconds,
  exp: seconds,
  jti: z.string().min(1).max(80),
  cnf: z.strictObject({ jkt: b64url }),
  act: actor,
  tenant,
  authorization_details: z.array(leaseDetail).length(1),
  task: z.strictObject({
    run: runId,
    step: stepId,
    attempt: z.int().min(1),
    task_id: z.string().max(128).optional(),
    context_id: z.string().max(128).optional(),
  }),
  plan_digest: digest,
  policy_digest: digest,
  state_digest: digest.optional(),
  dlg: z.strictObject({ depth: z.int().min(0).max(8), max: z.int().min(0).max(8), par: digest.optional() }),
  use: z.union([
    z.literal('single'),
    z.literal('control'),
    z.templateLiteral(['count:', z.string().regex(/[1-9]\d{0,5}/)]),
  ]),
  txn: runId,
  approval: z.strictObject({ id: z.string().max(80), digest }).optional(),
});
export type LeaseClaims = z.infer<typeof leaseClaims>;

/** The claims with unread authorization details: a guard reads those after the proof, so that each refusal names its reason. */
export const leaseEnvelope = leaseClaims.extend({ authorization_details: z.array(z.unknown()).max(16) });
export type LeaseEnvelope = z.infer<typeof leaseEnvelope>;

/** A detail of the known type with unread bounds. */
export const leaseDetailEnvelope = leaseDetail.extend({ bounds: z.record(z.string().max(128), z.unknown()) });

/** The outcome words of every check at every boundary. */
export const guardOutcome = z.enum(['permit', 'deny', 'request_input', 'quarantine', 'retry', 'unknown']);
export type GuardOutcome = z.infer<typeof guardOutcome>;

/** The root grant of an authenticated user: who they are and who may act for them. */
export const rootGrant = z.strictObject({
  sub: z.string().min(1).max(256),
  tenant,
  purposes: z.array(name).max(64),
  actions: z.array(action).max(256),
  /** The workload that may be the supervisor for this user. */
  may_act: z.strictObject({ sub: z.string().max(256) }),
  roles: z.array(name).max(16),
});
export type RootGrant = z.infer<typeof rootGrant>;

/** A registry row per lease: what was minted for whom, its task binding and its revocation. No token, no signature. */
export const leaseRow = z.strictObject({
  leaseId: z.string().max(80),
  tenant,
  runId,
  stepId,
  attempt: z.int().min(1),
  subject: z.string().max(256),
  actor: z.string().max(256),
  audience: z.string().max(512),
  actions: z.array(action),
  resources: z.array(z.string()),
  purpose: name,
  parent: z.string().max(80).optional(),
  depth: z.int().min(0),
  use: z.string().max(16),
  issuedAt: seconds,
  expiresAt: seconds,
  taskId: z.string().max(128).optional(),
  revokedAt: seconds.optional(),
});
export type LeaseRow = z.infer<typeof leaseRow>;
