/** What the teams can do, frozen for one plan, with an expiry. Source: DESIGN §3.2. */
import { z } from 'zod';
import { action, digest, name, snapshotId, tenant, timestamp } from './ids.ts';
import { skillContract } from './skill.ts';

/** A team's card after ingest: who it is, who vouched for it, where it listens. */
export const capabilityCard = z.strictObject({
  team: name,
  cardName: z.string().max(200),
  cardVersion: z.string().max(64),
  protocolVersion: z.string().max(16),
  /** Thumbprint (RFC 7638) of the pinned key that verified the card; absent: not verified, and then not plannable. */
  verifiedBy: z.string().max(64).optional(),
  cardDigest: digest,
  interfaces: z
    .array(z.strictObject({ url: z.url(), binding: z.enum(['HTTP+JSON', 'JSONRPC', 'INPROCESS']) }))
    .min(1)
    .max(8),
  /** The audience of leases for this team: the base URL of the interface used. */
  audience: z.string().max(512),
  /** Workload identity of the team: `spiffe://…/team/claims`. */
  workload: z.string().max(256),
  /** Audience of leases per tool server of the team: a work lease may be narrowed to these and to no other. */
  toolAudiences: z.record(name, z.string().max(512)).optional(),
});
export type CapabilityCard = z.infer<typeof capabilityCard>;

/** What the central policy lets this user, for this purpose, ask of the teams. */
export const policyProjection = z.strictObject({
  digest,
  tenants: z.array(tenant).max(64),
  purposes: z.array(name).max(64),
  /** Effective permission: user ∩ workload. The task's part is added per skill by the validator. */
  userActions: z.array(action).max(256),
  workloadActions: z.array(action).max(256),
});
export type PolicyProjection = z.infer<typeof policyProjection>;

export const capabilitySnapshot = z.strictObject({
  snapshotId,
  tenant,
  takenAt: timestamp,
  expiresAt: timestamp,
  cards: z.array(capabilityCard).max(256),
  skills: z.array(skillContract).max(1_024),
  /** Digest of each team's own policy as the team announced it; the lease carries it and the team compares. */
  teamPolicyDigests: z.record(name, digest),
  policy: policyProjection,
  /** Teams that did not answer discovery: name and reason. */
  unavailable: z.array(z.strictObject({ team: name, reason: z.string().max(500) })).max(256),
});
export type CapabilitySnapshot = z.infer<typeof capabilitySnapshot>;
