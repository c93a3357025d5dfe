/**
 * What a team says about itself in its card beyond A2A: the contracts of its skills, the digest of its own policy, its workload and the
 * audiences of its tool servers, as parameters of an extension, so that the card's signature covers them.
 */
import { z } from 'zod';
import { digest, name } from '#contracts/ids.ts';
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import { skillContract } from '#contracts/skill.ts';

export const CONTRACTS_EXTENSION = 'urn:caseops:ext:skill-contracts:v1';

export const contractsParams = z.strictObject({
  workload: z.string().min(1).max(256),
  policyDigest: digest,
  toolAudiences: z.record(name, z.string().max(512)),
  contracts: z.array(skillContract).max(1_024),
});
export type ContractsParams = z.infer<typeof contractsParams>;

const extension = z.object({
  uri: z.string().max(512),
  required: z.boolean().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
});

/** The members of an A2A card that we read; a card's other members are covered by its signature and ignored. */
export const wireCard = z.object({
  name: z.string().min(1).max(200),
  version: z.string().min(1).max(64),
  supportedInterfaces: z
    .array(
      z.object({
        url: z.url().max(512),
        protocolBinding: z.string().max(64),
        protocolVersion: z.string().max(16),
        tenant: z.string().max(64).optional(),
      }),
    )
    .min(1)
    .max(16),
  capabilities: z.object({
    streaming: z.boolean().optional(),
    extensions: z.array(extension).max(32).optional(),
  }),
});
export type WireCard = z.infer<typeof wireCard>;

/** The card demands the lease: a client that does not know the extension must not call. */
export function demandsLease(card: WireCard): boolean {
  return (card.capabilities.extensions ?? []).some((item) => item.uri === LEASE_EXTENSION && item.required === true);
}
