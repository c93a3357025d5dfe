/** What a team must be told about the world it serves: whose leases it takes, and where to exchange them. */
import { z } from 'zod';
import type { PublicJwk } from '#ports/signer.ts';
import { telemetryConfig } from './telemetry-config.ts';

export const publicJwk: z.ZodType<PublicJwk> = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
});

/** A workload's own key, as it travels over a private channel only. */
export const privateJwk = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
});

/** Pinned by whoever starts the team; nothing of it is taken from the network. */
export const trust = z.strictObject({
  issuer: z.string(),
  tokenEndpoint: z.url(),
  issuerKeys: z.array(publicJwk).min(1),
  supervisorKey: publicJwk,
});
export type Trust = z.infer<typeof trust>;

/** Told to a team's process by its parent, once. */
export const teamStart = z.strictObject({
  kind: z.literal('start'),
  caseModule: z.string(),
  team: z.string(),
  directory: z.string(),
  trust,
  telemetry: telemetryConfig,
  /** Absent: the team keeps a key of its own in its directory. */
  key: privateJwk.optional(),
  /** Calls in flight at most, by MCP server. */
  callLimits: z.record(z.string(), z.int().min(1)).optional(),
});
export type TeamStart = z.infer<typeof teamStart>;

/** A team's answer when it listens. */
export const teamReady = z.strictObject({
  kind: z.literal('ready'),
  url: z.string(),
  cardUrl: z.string(),
  publicKey: publicJwk,
  audiences: z.array(z.string()),
  recoveredRunCount: z.int(),
});
export type TeamReady = z.infer<typeof teamReady>;

export const teamFailed = z.strictObject({ kind: z.literal('failed'), code: z.string(), message: z.string() });
export const teamMessage = z.union([teamReady, teamFailed]);
