import { defineTool } from 'caseops';
import { z } from 'zod';

export const policyRecord = z.strictObject({
  policy_id: z.string(),
  traffic_percent_max: z.int(),
  /** Above this share a person decides. */
  unreviewed_percent_max: z.int(),
});

/** The rollout policy in force for a release. */
export const getRolloutPolicy = defineTool({
  server: 'rollout-policies',
  name: 'rollout.get_policy',
  version: '1.0.0',
  description: 'Reads the rollout policy in force for a release.',
  input: z.strictObject({ release_id: z.string() }),
  record: policyRecord,
  resource: { type: 'release', argument: 'release_id' },
  source: 'rollout-policies',
  anchorType: 'rollout-policy',
  actions: ['policies:read'],
  purposes: ['release_promotion'],
});
