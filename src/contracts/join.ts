/** The join contract: which outcome each combination of step results has. Source: DESIGN §3.8. */
import { z } from 'zod';
import { stepId } from './ids.ts';

export const join = z.strictObject({
  requiredSteps: z.array(stepId).max(100_000),
  optionalSteps: z.array(stepId).max(100_000),
  completionRule: z.enum(['all_terminal', 'all_required_terminal', 'quorum']),
  successRule: z.enum(['all_required_completed', 'quorum_completed']),
  /** How many required steps must settle as completed under a quorum rule. */
  quorumCount: z.int().min(1).optional(),
  onOptionalFailure: z.enum(['degraded', 'failed', 'ignored']),
  onRequiredNoData: z.enum(['no_data', 'failed']),
  onRequiredFailure: z.enum(['failed', 'partial']),
  onLateResult: z.literal('record_only'),
  onConflict: z.enum(['block', 'failed']),
  /** Who decides a conflict when the run is blocked on one. */
  conflictDecider: z.enum(['person', 'requester']),
});
export type Join = z.infer<typeof join>;
