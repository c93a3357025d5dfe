/** The last hour of a canary from a Prometheus, by its HTTP API. */
import { z } from 'zod';
import { errorBudgetBurn, HOUR_MS, type HealthSource, type HealthWindow } from './health-source.ts';

export interface PrometheusSourceOptions {
  /** `http://127.0.0.1:9090` */
  readonly url: string;
  /** A counter with the labels `tenant`, `release` and `code`. */
  readonly counter: string;
  /** Of successful requests, such as 0.999. */
  readonly objective: number;
}

const answer = z.object({
  status: z.literal('success'),
  data: z.object({
    resultType: z.literal('vector'),
    result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })),
  }),
});

/** A name that cannot leave its quotes in a query; others are refused before anything is asked. */
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export function createPrometheusSource(options: PrometheusSourceOptions): HealthSource {
  return {
    lastHour: async (tenant, releaseId, signal) => {
      if (!LABEL.test(tenant) || !LABEL.test(releaseId)) return undefined;
      const of = `${options.counter}{tenant="${tenant}",release="${releaseId}"`;
      const seen = await ask(options.url, `sum(count_over_time(${of}}[1h]))`, signal);
      if (seen === undefined) return undefined;
      const [requests, errors] = await Promise.all([
        ask(options.url, `sum(increase(${of}}[1h]))`, signal),
        ask(options.url, `sum(increase(${of},code=~"5.."}[1h]))`, signal),
      ]);
      return windowOf(releaseId, { options, seen, requests, errors });
    },
  };
}

interface Value {
  readonly atMs: number;
  readonly value: number;
}

/** The one value of an instant query; undefined when nothing matched. Throws when Prometheus does not answer as agreed. */
async function ask(url: string, query: string, signal: AbortSignal): Promise<Value | undefined> {
  const response = await fetch(new URL('/api/v1/query', url), {
    method: 'POST',
    body: new URLSearchParams({ query }),
    redirect: 'error',
    signal,
  });
  if (!response.ok) throw new Error(`Prometheus answered ${response.status}`);
  const [first] = answer.parse(await response.json()).data.result;
  if (first === undefined) return undefined;
  const value = Number(first.value[1]);
  return Number.isFinite(value) ? { atMs: first.value[0] * 1_000, value } : undefined;
}

function windowOf(
  releaseId: string,
  by: {
    readonly options: PrometheusSourceOptions;
    readonly seen: Value;
    readonly requests: Value | undefined;
    readonly errors: Value | undefined;
  },
): HealthWindow {
  const { options, seen } = by;
  const requests = by.requests === undefined ? null : Math.round(by.requests.value);
  // A canary that never failed has no series of failures.
  const errors = requests === null ? null : Math.round(by.errors?.value ?? 0);
  const to = new Date(seen.atMs).toISOString();
  return {
    version: `t${Math.round(seen.atMs)}`,
    record: {
      release_id: releaseId,
      window_from: new Date(seen.atMs - HOUR_MS).toISOString(),
      window_to: to,
      sample_count: seen.value,
      request_count: requests,
      error_count: errors,
      error_budget_burn:
        requests === null || errors === null ? null : errorBudgetBurn(errors, requests, options.objective),
      anomalies: [],
    },
  };
}
