import type { SeedRecord } from '../../records.ts';

/** Synthetic rules. */
export const RULE_RECORDS: readonly SeedRecord[] = ['t8', 't9'].flatMap((tenant) => [
  {
    tenant,
    id: 'motor.pending_documents',
    version: '2026.1',
    data: {
      rule_id: 'motor-required-documents',
      topic: 'pending_documents',
      claim_type: 'motor',
      blocks_because: 'A motor claim is not assessed before every required document has arrived.',
      next_step: 'Assessment resumes within two working days after the last required document has arrived.',
      effective_from: '2026-01-01',
    },
  },
  {
    tenant,
    id: 'motor.under_review',
    version: '2026.1',
    data: {
      rule_id: 'motor-review',
      topic: 'under_review',
      claim_type: 'motor',
      blocks_because: 'A claim under review is with an assessor.',
      next_step: 'The assessor decides within ten working days.',
      effective_from: '2026-01-01',
    },
  },
]);
