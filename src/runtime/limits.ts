/** How much work a deployment takes on at the same time, and what it answers to the rest. Source: DESIGN §4 "Backpressure". */
import { CaseOpsError } from '#contracts/error.ts';
import type { AdmissionLimits } from '#control/admission-queue.ts';

/** What one tenant has instead of what all have. */
export interface TenantLimits {
  readonly goalsPerMinuteMax?: number | undefined;
  readonly runsInFlightMax?: number | undefined;
}

export interface Limits extends AdmissionLimits {
  /** Per tenant; a burst of as many is taken at once. */
  readonly goalsPerMinuteMax: number;
  /** Tenants with bounds of their own. */
  readonly tenants?: Readonly<Record<string, TenantLimits>>;
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
  const { tenants = {}, ...common } = limits;
  const all = [
    ...Object.entries(common),
    ...Object.entries(tenants).flatMap(([tenant, own]) =>
      Object.entries(own).flatMap(([name, value]) =>
        value === undefined ? [] : [[`tenants.${tenant}.${name}`, value] as const],
      ),
    ),
  ];
  const wrong = all.filter(([, value]) => !Number.isSafeInteger(value) || Number(value) < 1 || Number(value) > 1e6);
  if (wrong.length === 0) return limits;
  throw new CaseOpsError(
    'ERR_CONFIG',
    `Expected whole numbers from 1 to 1000000 as limits, got ${wrong.map(([name, value]) => `${name} = ${String(value)}`).join(', ')}.`,
    { at: 'runtime' },
  );
}

/** What `tenant` may submit a minute. */
export function goalsPerMinuteOf({ goalsPerMinuteMax, tenants = {} }: Limits, tenant: string): number {
  const own = Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
  return own?.goalsPerMinuteMax ?? goalsPerMinuteMax;
}
