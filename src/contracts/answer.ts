/** The answer: claims from accepted results only, and what could not be said. Source: DESIGN §3.9. */
import { z } from 'zod';
import { claim } from './claim.ts';
import { errorRecord } from './error.ts';
import { evidence } from './evidence.ts';
import { name, stepId } from './ids.ts';
import { runResult, stepStatus } from './step-result.ts';

export const ANSWER_VERSION = '1.0.0';

/** A declared sentence that could not be said, and why. */
export const unsaid = z.strictObject({
  key: name,
  reason: z.enum(['step_missing', 'no_data', 'refused', 'proof_failed']),
  stepIds: z.array(stepId).max(64),
  impact: z.string().max(1_000),
  error: errorRecord.optional(),
});
export type Unsaid = z.infer<typeof unsaid>;

/** An optional or required step that gave nothing the answer could use. */
export const missingStep = z.strictObject({
  stepId,
  team: name,
  skillId: name,
  status: z.union([stepStatus, z.literal('skipped')]),
  reason: z.string().max(1_000),
  impact: z.string().max(1_000),
});
export type MissingStep = z.infer<typeof missingStep>;

export const answer = z.strictObject({
  contractVersion: z.literal(ANSWER_VERSION),
  language: z.string().regex(/^[a-z]{2}$/),
  result: runResult,
  needsHuman: z.boolean(),
  claims: z.array(claim).max(1_000),
  unsaid: z.array(unsaid).max(1_000),
  missingSteps: z.array(missingStep).max(1_000),
  evidence: z.array(evidence).max(10_000),
});
export type Answer = z.infer<typeof answer>;
