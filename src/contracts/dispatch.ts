/** One step handed to a team: its input, bounds and correlation ids. The lease travels beside it, never inside. Source: DESIGN §3.4. */
import { z } from 'zod';
import { stepBudget } from './budget.ts';
import { action, digest, dispatchId, goalId, name, planId, runId, semver, stepId, tenant, timestamp } from './ids.ts';

export const DISPATCH_VERSION = '1.0.0';

export const dispatch = z.strictObject({
  contractVersion: z.literal(DISPATCH_VERSION),
  dispatchId,
  tenant,
  /** The person on whose behalf; equals the lease's sub. */
  subject: z.string().min(1).max(256),
  runId,
  goalId,
  planId,
  planVersion: z.int().min(1),
  planDigest: digest,
  stepId,
  attempt: z.int().min(1),
  team: name,
  skillId: name,
  skillVersion: semver,
  purpose: name,
  actions: z.array(action).min(1).max(16),
  forbiddenActions: z.array(action).max(64),
  resources: z.array(z.string().max(256)).max(64),
  budget: stepBudget,
  deadlineAt: timestamp,
  language: z.string().regex(/^[a-z]{2}$/),
  input: z.record(name, z.json()),
  inputDigest: digest,
});
export type Dispatch = z.infer<typeof dispatch>;
