/** How many goals a tenant may submit: a token bucket each, so that a burst is taken and a stream is held to its rate. DESIGN §4. */
import { CaseOpsError } from '#contracts/error.ts';
import type { Clock } from '#ports/clock.ts';
import type { Quota } from '#ports/run-desk.ts';

export interface GoalRate {
  /** Takes one; throws ERR_RATE_LIMITED with `detail.retryAfterMs` when the tenant has none left. */
  take(tenant: string): void;
  /** Gives one back that led to nothing. */
  giveBack(tenant: string): void;
  quota(tenant: string): Quota;
}

interface Bucket {
  goalCount: number;
  atMs: number;
}

const WINDOW_MS = 60_000;

/**
 * `perMinuteMax` says how many a tenant may submit a minute, the same at each call. Buckets start full, and a full one is forgotten: memory
 * is bounded by the tenants that asked within a minute.
 */
export function createGoalRate(perMinuteMax: (tenant: string) => number, clock: Clock): GoalRate {
  const buckets = new Map<string, Bucket>();
  const perMs = (tenant: string): number => perMinuteMax(tenant) / WINDOW_MS;
  const filled = (tenant: string): Bucket => {
    const nowMs = clock.nowMs();
    const max = perMinuteMax(tenant);
    const bucket = buckets.get(tenant) ?? { goalCount: max, atMs: nowMs };
    const gainedMs = Math.max(0, nowMs - bucket.atMs);
    return { goalCount: Math.min(max, bucket.goalCount + gainedMs * perMs(tenant)), atMs: nowMs };
  };
  const keep = (tenant: string, bucket: Bucket): void => {
    // Set anew, the map stays in the order of the last change.
    buckets.delete(tenant);
    if (bucket.goalCount < perMinuteMax(tenant)) buckets.set(tenant, bucket);
  };
  return {
    take: (tenant) => {
      const bucket = filled(tenant);
      if (bucket.goalCount < 1) throw tooMany(perMinuteMax(tenant), tenant, (1 - bucket.goalCount) / perMs(tenant));
      keep(tenant, { ...bucket, goalCount: bucket.goalCount - 1 });
      // Who has not asked for a minute has a full bucket again.
      for (const [other, { atMs }] of buckets) {
        if (bucket.atMs - atMs < WINDOW_MS) break;
        buckets.delete(other);
      }
    },
    giveBack: (tenant) => {
      const bucket = filled(tenant);
      keep(tenant, { ...bucket, goalCount: bucket.goalCount + 1 });
    },
    quota: (tenant) => {
      const { goalCount } = filled(tenant);
      const max = perMinuteMax(tenant);
      return {
        goalCountMax: max,
        windowS: WINDOW_MS / 1_000,
        goalCountLeft: Math.floor(goalCount),
        resetS: Math.ceil((max - goalCount) / perMs(tenant) / 1_000),
      };
    },
  };
}

function tooMany(goalsPerMinuteMax: number, tenant: string, waitMs: number): CaseOpsError {
  const retryAfterMs = Math.ceil(waitMs);
  return new CaseOpsError(
    'ERR_RATE_LIMITED',
    `Tenant ${tenant} may submit ${goalsPerMinuteMax} goals a minute and has used them; try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
    { at: 'control', retryable: true, detail: { retryAfterMs } },
  );
}
