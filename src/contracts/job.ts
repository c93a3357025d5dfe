/** A job's todo as it is stored: the schema at the store's threshold. The type is the command's. Source: DESIGN §4 (outbox). */
import { z } from 'zod';
import type { JobTodo } from './command.ts';
import { approvalId, dispatchId, stepId } from './ids.ts';

const attempt = z.int().min(1);

/** Refuses a todo of an unknown kind, such as one that a newer version wrote. */
export const jobTodo = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('admit') }),
  z.strictObject({ kind: z.literal('plan'), round: z.int().min(0) }),
  z.strictObject({ kind: z.literal('dispatch'), stepId, attempt }),
  z.strictObject({ kind: z.literal('send'), stepId, attempt, dispatchId }),
  z.strictObject({ kind: z.literal('compose') }),
  z.strictObject({ kind: z.literal('proposeEffect'), stepId }),
  z.strictObject({ kind: z.literal('applyEffect'), stepId, approvalId, attempt }),
  z.strictObject({ kind: z.literal('await') }),
  z.strictObject({
    kind: z.literal('cancelTask'),
    stepId,
    attempt,
    dispatchId,
    taskId: z.string().max(128).optional(),
  }),
]) as unknown as z.ZodType<JobTodo>;
