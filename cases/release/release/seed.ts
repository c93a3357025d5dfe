/** Synthetic releases of the tenant tenant-7; tenant-8 has another world. */
import type { SeedRecord } from '../../records.ts';

export const RELEASE_RECORDS: readonly SeedRecord[] = [
  {
    tenant: 'tenant-7',
    id: 'reranker-v17',
    version: 'v3',
    data: { release_id: 'reranker-v17', release_version: '3', request_id: 'promote-104', baseline: 'reranker-v16' },
  },
  {
    tenant: 'tenant-7',
    id: 'reranker-v18',
    version: 'v1',
    data: { release_id: 'reranker-v18', release_version: '1', request_id: 'promote-109', baseline: 'reranker-v17' },
  },
  {
    tenant: 'tenant-8',
    id: 'ranker-v2',
    version: 'v5',
    data: { release_id: 'ranker-v2', release_version: '5', request_id: 'promote-7', baseline: 'ranker-v1' },
  },
];

/** The release id that each stands for. */
export const ALIAS_RECORDS: readonly SeedRecord[] = [
  {
    tenant: 'tenant-7',
    id: 'reranker-canary',
    version: 'v2',
    data: { alias: 'reranker-canary', release_id: 'reranker-v17' },
  },
];
