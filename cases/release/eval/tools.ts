import { defineTool } from 'caseops';
import { z } from 'zod';

export const evalRecord = z.strictObject({
  run_id: z.string(),
  release_id: z.string(),
  baseline: z.string(),
  measures: z.array(
    z.strictObject({
      suite: z.string(),
      metric: z.string(),
      /** Larger is better. */
      baseline: z.number(),
      candidate: z.number(),
      /** How much worse is still tolerated, in the metric's own unit. */
      tolerance: z.number().min(0),
    }),
  ),
  /** Computed from the measures: `long-queries recall@10 0.712 → 0.704`. */
  regressions: z.array(z.string()),
});

/** The last evaluation of a release against its baseline. */
export const getEvalRun = defineTool({
  server: 'eval-store',
  name: 'evals.get_run',
  version: '1.0.0',
  description: 'Reads the last evaluation of a release against its baseline.',
  input: z.strictObject({ release_id: z.string() }),
  record: evalRecord,
  resource: { type: 'release', argument: 'release_id' },
  source: 'eval-store',
  anchorType: 'eval-run',
  actions: ['evals:read'],
  purposes: ['release_promotion'],
});
