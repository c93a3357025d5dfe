/** A synthetic hour of the canary at 5 %: 42 of 120,000 requests failed, of 120 that an objective of 99.9 % allows. */
import type { SeedRecord } from '../../records.ts';

export const HEALTH_RECORDS: readonly SeedRecord[] = [
  {
    tenant: 'tenant-7',
    id: 'reranker-v17',
    version: 'v60',
    data: {
      release_id: 'reranker-v17',
      window_from: '2026-07-23T08:00:00Z',
      window_to: '2026-07-23T09:00:00Z',
      sample_count: 240,
      request_count: 120_000,
      error_count: 42,
      error_budget_burn: 0.35,
      anomalies: [],
    },
  },
  {
    tenant: 'tenant-7',
    id: 'reranker-v18',
    version: 'v12',
    data: {
      release_id: 'reranker-v18',
      window_from: '2026-07-23T08:00:00Z',
      window_to: '2026-07-23T09:00:00Z',
      sample_count: 240,
      request_count: 98_000,
      error_count: 412,
      error_budget_burn: 4.204,
      anomalies: [],
    },
  },
];
