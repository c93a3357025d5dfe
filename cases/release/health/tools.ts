import { defineTool } from 'caseops';
import { z } from 'zod';

export const healthRecord = z.strictObject({
  release_id: z.string(),
  /** RFC 3339; the hour that was looked at. */
  window_from: z.string(),
  window_to: z.string(),
  /** Points of the series, or scrapes; none: nothing was seen, and nothing can be said. */
  sample_count: z.number(),
  /** Null where the source does not know requests. */
  request_count: z.number().nullable(),
  error_count: z.number().nullable(),
  /** How much of the hour's error budget was burned: 1 is all of it. Null without requests. */
  error_budget_burn: z.number().nullable(),
  /** Labelled anomalies that touch the window. */
  anomalies: z.array(z.strictObject({ from: z.string(), to: z.string() })),
});
export type HealthRecord = z.infer<typeof healthRecord>;

/** The last hour of a release's canary. */
export const getHealthWindow = defineTool({
  server: 'telemetry',
  name: 'health.get_window',
  version: '1.0.0',
  description: "Reads the last hour of a release's canary: requests, errors, error budget, known anomalies.",
  input: z.strictObject({ release_id: z.string() }),
  record: healthRecord,
  resource: { type: 'release', argument: 'release_id' },
  source: 'telemetry',
  anchorType: 'health-window',
  actions: ['metrics:read'],
  purposes: ['release_promotion'],
  timeoutMs: 2_500,
});
