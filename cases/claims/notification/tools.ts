import { defineTool } from 'caseops';
import { z } from 'zod';

export const draftRecord = z.strictObject({
  draft_id: z.string(),
  claim_id: z.string(),
  member_id: z.string(),
  subject: z.string(),
  body: z.string(),
  state: z.literal('draft'),
  template_version: z.string(),
});

/** Writes a notice from a template. It composes text and sends nothing. */
export const composeDraft = defineTool({
  server: 'notice-drafts',
  name: 'notices.compose_draft',
  version: '1.0.0',
  description: 'Composes the text of a notice from a template; sends nothing.',
  input: z.strictObject({
    claim_id: z.string(),
    member_id: z.string(),
    missing_documents: z.array(z.string()),
    next_action: z.string(),
    language: z.string(),
  }),
  record: draftRecord,
  resource: { type: 'claim', argument: 'claim_id' },
  source: 'notice-drafts',
  anchorType: 'notice-draft',
  risk: 'draft',
  actions: ['notices:draft'],
  purposes: ['claim_investigation', 'claim_notification'],
});
