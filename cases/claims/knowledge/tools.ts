import { defineTool } from 'caseops';
import { z } from 'zod';

export const ruleRecord = z.strictObject({
  rule_id: z.string(),
  topic: z.string(),
  claim_type: z.string(),
  blocks_because: z.string(),
  next_step: z.string(),
  effective_from: z.string(),
});

/** The rule in force for a claim in a given status. */
export const findRule = defineTool({
  server: 'policy-library',
  name: 'policies.find_rule',
  version: '1.1.0',
  description: 'Finds the rule in force for a status of a claim.',
  input: z.strictObject({ claim_status: z.string(), claim_type: z.string() }),
  record: ruleRecord,
  resource: { type: 'policy-topic', argument: 'claim_status' },
  source: 'policy-library',
  anchorType: 'policy-rule',
  classification: 'public',
  actions: ['policies:read'],
  purposes: ['claim_investigation', 'claim_notification'],
});
