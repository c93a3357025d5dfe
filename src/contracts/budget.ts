/** What a run or a step may spend. Every bound has its unit in its name. Source: DESIGN §3.4, CONTRACTS "Deadline". */
import { z } from 'zod';

const count = z.int().min(0).max(1_000_000_000);

export const budget = z.strictObject({
  stepCountMax: count,
  modelTokenCountMax: count,
  toolCallCountMax: count,
  /** Steps that may be in flight at the same time. */
  concurrencyMax: z.int().min(1).max(10_000),
  /** Running time in ms; pauses while a person is awaited and between a crash and its recovery. */
  deadlineMs: z.int().min(1).max(86_400_000),
  replanCountMax: z.int().min(0).max(10),
});
export type Budget = z.infer<typeof budget>;

/** A step's share, reserved before it starts and settled by the controller when it ends. */
export const stepBudget = z.strictObject({
  modelTokenCountMax: count,
  toolCallCountMax: count,
  timeoutMs: z.int().min(1).max(86_400_000),
});
export type StepBudget = z.infer<typeof stepBudget>;

/** What was used, counted by the budget controller from recorded calls, never taken from an agent's word. */
export const usage = z.strictObject({ modelTokenCount: count, toolCallCount: count, durationMs: count });
export type Usage = z.infer<typeof usage>;
