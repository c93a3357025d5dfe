import { defineTool } from 'caseops';
import { z } from 'zod';

const purposes = ['claim_investigation', 'claim_portfolio', 'claim_notification'];

export const claimRecord = z.strictObject({
  claim_id: z.string(),
  member_id: z.string(),
  claim_type: z.string(),
  status: z.string(),
  updated_at: z.string(),
});
export const documentsRecord = z.strictObject({
  claim_id: z.string(),
  missing: z.array(z.string()),
  required: z.array(z.string()),
});

/** The claim as the claims system has it now. */
export const getStatus = defineTool({
  server: 'claims-records',
  name: 'claims.get_status',
  version: '2.0.0',
  description: 'Reads the status of a claim.',
  input: z.strictObject({ claim_id: z.string() }),
  record: claimRecord,
  resource: { type: 'claim', argument: 'claim_id' },
  source: 'claims-db',
  anchorType: 'claim',
  actions: ['claims:read'],
  purposes,
});

/** Which of the documents a claim needs have not arrived. */
export const listMissingDocuments = defineTool({
  server: 'claims-records',
  name: 'claims.list_missing_documents',
  version: '1.0.0',
  description: 'Lists the documents that a claim still needs.',
  input: z.strictObject({ claim_id: z.string() }),
  record: documentsRecord,
  resource: { type: 'claim', argument: 'claim_id' },
  source: 'claims-db',
  anchorType: 'claim-documents',
  actions: ['claims:read'],
  purposes,
});
