/** How much work a deployment takes on at the same time, and what it answers to the rest. Source: DESIGN §4 "Backpressure". */
import { CaseOpsError } from '#contracts/error.ts';
import type { AdmissionLimits } from '#control/admission-queue.ts';

export interface Limits extends AdmissionLimits {
  /** Per tenant; a burst of as many is taken at once. */
  readonly goalsPerMinuteMax: number;
}

export const DEFAULT_LIMITS: Limits = {
  runsInFlightMax: 64,
  runsInFlightPerTenantMax: 32,
  queueLengthMax: 1_000,
  goalsPerMinuteMax: 600,
};

/** The limits with their defaults; ERR_CONFIG for one that is no whole number from 1 to a million. */
export function limitsOf(given: Partial<Limits> = {}): Limits {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const wrong = Object.entries(limits).filter(([, value]) => !Number.isSafeInteger(value) || value < 1 || value > 1e6);
  if (wrong.length === 0) return limits;
  throw new CaseOpsError(
    'ERR_CONFIG',
    `Expected whole numbers from 1 to 1000000 as limits, got ${wrong.map(([name, value]) => `${name} = ${String(value)}`).join(', ')}.`,
    { at: 'runtime' },
  );
}
