/** Where a canary's last hour is read from: a Prometheus, a labelled series, or the synthetic records of the demonstration. */
import type { HealthRecord } from './tools.ts';

export interface HealthWindow {
  /** What the observation is a version of: the end of the window, or the record's own version. */
  readonly version: string;
  readonly record: HealthRecord;
}

export interface HealthSource {
  /** Undefined: the source knows no such canary. Rejects when it cannot be asked. */
  lastHour(tenant: string, releaseId: string, signal: AbortSignal): Promise<HealthWindow | undefined>;
}

export const HOUR_MS = 3_600_000;

/**
 * How much of a window's error budget its errors burned: the ratio of errors to what the objective allows. An objective of 0.999 allows
 * one error in a thousand requests; two in a thousand burn the budget twice.
 */
export function errorBudgetBurn(errors: number, requests: number, objective: number): number | null {
  return requests > 0 ? Number((errors / requests / (1 - objective)).toFixed(3)) : null;
}
