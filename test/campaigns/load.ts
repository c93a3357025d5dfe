/**
 * Load: goals of three tenants submitted at once to a bounded queue over HTTP. None lost, none doubled, refusals are 429 with Retry-After,
 * and what the small tenant waits stays within twice of what it waits alone. Source: DESIGN §4 "Backpressure".
 */
import type { RunView } from '#contracts/run-view.ts';
import type { RunHead } from '#ports/store.ts';
import type { Limits } from '#runtime/limits.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { INQUIRY_TEXT } from '#testing/inquiry-world.ts';
import { type CheckFailure, type CheckObject, checkObject } from './check-object.ts';
import { type InquiryService, openInquiryService } from './inquiry-service.ts';

export interface LoadOptions {
  /** Goals by tenant, submitted in this order; the last named is the small one, who comes when the others are there. */
  readonly goalCounts: Readonly<Record<string, number>>;
  readonly limits: Limits;
  readonly workMs: number;
}

/** 500 goals; the work of the teams is elsewhere, as in a deployment: here they wait. */
export const FULL_LOAD: LoadOptions = {
  goalCounts: { t2: 230, t3: 230, t1: 40 },
  limits: { runsInFlightMax: 24, runsInFlightPerTenantMax: 8, queueLengthMax: 280, goalsPerMinuteMax: 100_000 },
  workMs: 250,
};

const SUBMIT_COUNT_MAX = 60;
const P95_FACTOR_MAX = 2;

interface Sample {
  readonly tenant: string;
  readonly key: string;
  readonly runId: string;
  readonly result: string | null;
  readonly durationMs: number;
  readonly refusedCount: number;
  /** Refusals that were no 429 with a Retry-After. */
  readonly odd: readonly string[];
}

export async function runLoad(options: LoadOptions): Promise<CheckObject> {
  const small = Object.keys(options.goalCounts).at(-1) ?? '';
  const solo = await loaded({ ...options, goalCounts: { [small]: options.goalCounts[small] ?? 0 } });
  const shared = await loaded(options);
  const ownMs = (samples: readonly Sample[]): readonly number[] =>
    samples.filter(({ tenant }) => tenant === small).map(({ durationMs }) => durationMs);
  const soloP95Ms = percentile(ownMs(solo.samples), 95);
  const sharedP95Ms = percentile(ownMs(shared.samples), 95);
  const failures = [...shared.failures, ...solo.failures];
  if (sharedP95Ms > soloP95Ms * P95_FACTOR_MAX)
    failures.push({
      id: 'small-tenant-p95',
      expected: `at most ${P95_FACTOR_MAX} x ${soloP95Ms} ms`,
      got: `${sharedP95Ms} ms`,
    });
  const goalCount = shared.samples.length;
  return checkObject('campaign:load', {
    passed: goalCount + solo.samples.length - failures.length,
    failures,
    figures: {
      goalCount,
      tenantCount: Object.keys(options.goalCounts).length,
      smallTenantGoalCount: options.goalCounts[small] ?? 0,
      runCount: shared.heads.length,
      refusalCount: shared.samples.reduce((sum, { refusedCount }) => sum + refusedCount, 0),
      smallTenantSoloP95Ms: soloP95Ms,
      smallTenantP95Ms: sharedP95Ms,
      smallTenantP95Factor: Math.round((sharedP95Ms / soloP95Ms) * 100) / 100,
      inFlightMaxSeen: shared.inFlightMaxSeen,
      waitingMaxSeen: shared.waitingMaxSeen,
      durationMs: shared.durationMs,
    },
  });
}

interface Loaded {
  readonly samples: readonly Sample[];
  readonly heads: readonly RunHead[];
  readonly failures: CheckFailure[];
  readonly inFlightMaxSeen: number;
  readonly waitingMaxSeen: number;
  readonly durationMs: number;
}

async function loaded(options: LoadOptions): Promise<Loaded> {
  await using service = await openInquiryService(options);
  const startMs = performance.now();
  const seen = { inFlightMaxSeen: 0, waitingMaxSeen: 0 };
  using stack = new DisposableStack();
  stack.defer(watch(service, seen));
  const goals = Object.entries(options.goalCounts).flatMap(([tenant, count]) =>
    Array.from({ length: count }, (_, index) => ({ tenant, key: `${tenant}-${index}` })),
  );
  const samples = await Promise.all(goals.map((goal) => submitUntilTaken(service.url, goal)));
  const durationMs = Math.round(performance.now() - startMs);
  const heads = await service.store.runs({ limit: 10_000, level: 'central' });
  return { samples, heads, failures: findings(samples, heads, { ...seen, ...options.limits }), ...seen, durationMs };
}

interface Seen {
  inFlightMaxSeen: number;
  waitingMaxSeen: number;
}

function watch({ store, admission }: InquiryService, seen: Seen): () => void {
  return store.onCommit(() => {
    seen.inFlightMaxSeen = Math.max(seen.inFlightMaxSeen, admission.inFlightCount);
    seen.waitingMaxSeen = Math.max(seen.waitingMaxSeen, admission.waitingCount);
  });
}

/** As a client does it: the same key again after as long as it was told, then it waits for the run's end. */
async function submitUntilTaken(
  url: string,
  { tenant, key }: { readonly tenant: string; readonly key: string },
): Promise<Sample> {
  const startMs = performance.now();
  const odd: string[] = [];
  const headers = {
    authorization: `Bearer ${tenant}`,
    'content-type': 'application/json',
    'idempotency-key': key,
    prefer: 'wait=60',
  };
  let refusedCount = 0;
  for (let tryCount = 0; tryCount < SUBMIT_COUNT_MAX; tryCount++) {
    const response = await fetch(`${url}/api/v1/runs`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ text: INQUIRY_TEXT }),
    });
    const body = (await response.json()) as RunView & { readonly code?: string };
    if (response.ok) {
      // A run that has not ended by then is asked for again under its key.
      if (body.state !== 'ended') continue;
      const durationMs = Math.round(performance.now() - startMs);
      return { tenant, key, runId: body.runId, result: body.result, durationMs, refusedCount, odd };
    }
    refusedCount++;
    const afterS = Number(response.headers.get('retry-after') ?? 'NaN');
    const limited = response.headers.get('ratelimit') !== null;
    if (response.status !== 429 || !(afterS >= 1) || !limited) odd.push(`${response.status} ${body.code ?? ''}`);
    await systemClock.sleep((afterS >= 1 ? afterS : 1) * 1_000);
  }
  return { tenant, key, runId: '', result: null, durationMs: 0, refusedCount, odd };
}

function findings(samples: readonly Sample[], heads: readonly RunHead[], seen: Seen & Limits): CheckFailure[] {
  const found: CheckFailure[] = [];
  const say = (id: string, expected: string, got: string): void => void found.push({ id, expected, got });
  const stored = new Map(heads.map(({ ref, result }) => [ref.runId as string, { tenant: ref.tenant, result }]));
  for (const { tenant, key, runId, result, odd } of samples) {
    const run = stored.get(runId);
    if (run?.result !== 'completed' || run.tenant !== tenant || result !== 'completed')
      say(`lost:${key}`, `a completed run of ${tenant}`, JSON.stringify(run ?? result));
    for (const one of odd) say(`refusal:${key}`, '429 with Retry-After and RateLimit', one);
  }
  const distinct = new Set(samples.map(({ runId }) => runId)).size;
  if (distinct !== samples.length || heads.length !== samples.length)
    say('doubled', `${samples.length} runs`, `${distinct} answered, ${heads.length} stored`);
  if (seen.inFlightMaxSeen > seen.runsInFlightMax)
    say('in-flight', `at most ${seen.runsInFlightMax}`, String(seen.inFlightMaxSeen));
  if (seen.waitingMaxSeen > seen.queueLengthMax)
    say('waiting', `at most ${seen.queueLengthMax}`, String(seen.waitingMaxSeen));
  return found;
}

function percentile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((rank / 100) * sorted.length) - 1)] ?? 0;
}
