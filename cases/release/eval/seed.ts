/** Synthetic evaluations: v17 is a little worse on long queries, within tolerance; v18 is not. */
import type { SeedRecord } from '../../records.ts';

export const EVAL_RECORDS: readonly SeedRecord[] = [
  {
    tenant: 'tenant-7',
    id: 'reranker-v17',
    version: 'v91',
    data: {
      run_id: 'run-91',
      release_id: 'reranker-v17',
      baseline: 'reranker-v16',
      measures: [
        { suite: 'all-queries', metric: 'ndcg@10', baseline: 0.618, candidate: 0.641, tolerance: 0.002 },
        { suite: 'long-queries', metric: 'recall@10', baseline: 0.712, candidate: 0.704, tolerance: 0.01 },
        { suite: 'code-queries', metric: 'mrr', baseline: 0.553, candidate: 0.549, tolerance: 0.005 },
      ],
    },
  },
  {
    tenant: 'tenant-7',
    id: 'reranker-v18',
    version: 'v97',
    data: {
      run_id: 'run-97',
      release_id: 'reranker-v18',
      baseline: 'reranker-v17',
      measures: [{ suite: 'all-queries', metric: 'ndcg@10', baseline: 0.641, candidate: 0.59, tolerance: 0.002 }],
    },
  },
];
