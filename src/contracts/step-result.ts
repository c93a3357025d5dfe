/** A step's settled result. Source: CONTRACTS "Step result". */
import { z } from 'zod';
import { usage } from './budget.ts';
import { errorRecord } from './error.ts';
import { evidence } from './evidence.ts';
import { digest, semver, stepId } from './ids.ts';

export const stepStatus = z.enum(['completed', 'no_data', 'partial', 'degraded', 'blocked', 'failed', 'cancelled']);
export type StepStatus = z.infer<typeof stepStatus>;

/** A result's terminal outcome of a whole run. */
export const runResult = z.enum(['completed', 'no_data', 'partial', 'degraded', 'failed', 'cancelled', 'refused']);
export type RunResult = z.infer<typeof runResult>;

export const stepResult = z.strictObject({
  stepId,
  planVersion: z.int().min(1),
  attempt: z.int().min(1),
  status: stepStatus,
  artifactRef: digest.optional(),
  data: z.json().optional(),
  /** Over data that is too large for a run's log, in place of it: the artifact has it. */
  dataDigest: digest.optional(),
  evidence: z.array(evidence).max(1_000),
  /** What a partial or no_data result lacks, in the skill's own words. */
  missing: z.array(z.string().max(500)).max(100),
  errors: z.array(errorRecord).max(100),
  usage,
  producer: z.string().max(256),
  contractVersion: semver,
  /** Over status, data, evidence identity (source+anchor+version+digest), missing and contract version; not times, ids or attempt. */
  resultHash: digest,
});
export type StepResult = z.infer<typeof stepResult>;
