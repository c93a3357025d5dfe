import { defineTool } from 'caseops';
import { z } from 'zod';

export const memberRecord = z.strictObject({
  member_id: z.string(),
  claim_id: z.string(),
  name: z.string(),
  relationship: z.string(),
});

/** Who holds the policy behind a claim. */
export const findMember = defineTool({
  server: 'member-directory',
  name: 'members.find_by_claim',
  version: '1.0.0',
  description: 'Finds the member whose policy a claim was filed under.',
  input: z.strictObject({ claim_id: z.string() }),
  record: memberRecord,
  resource: { type: 'claim', argument: 'claim_id' },
  source: 'member-db',
  anchorType: 'member',
  actions: ['members:read'],
  purposes: ['claim_investigation', 'claim_portfolio', 'claim_notification'],
});
