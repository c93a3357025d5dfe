import type { SeedRecord } from '../../records.ts';

/** Keyed by the product that a release belongs to: `reranker` of `reranker-v17`. */
export const POLICY_RECORDS: readonly SeedRecord[] = [
  {
    tenant: 'tenant-7',
    id: 'reranker',
    version: 'v4',
    data: { policy_id: 'rollout-v4', traffic_percent_max: 50, unreviewed_percent_max: 10 },
  },
];
