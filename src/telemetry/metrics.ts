/**
 * Counters and histograms of one process, rendered in the text format of Prometheus. Own code: two kinds of series and no timers need no
 * library, and the bound on series is ours. Labels come from closed lists; a label value that is not a short word is not counted apart.
 */
import type { Counters, Durations } from '#ports/telemetry.ts';

export interface Metrics {
  count<K extends keyof Counters>(counter: K, labels: Counters[K]): void;
  observe<K extends keyof Durations>(duration: K, seconds: number, labels: Durations[K]): void;
  render(): string;
}

const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;
/** Series per name; beyond it all further label sets are one series, so that a scrape stays small whatever comes in. */
const SERIES_COUNT_MAX = 200;
const LABEL_LENGTH_MAX = 64;

const HELP: Readonly<Record<keyof Counters | keyof Durations, string>> = {
  runs: 'Runs that ended, by result.',
  steps: 'Steps that settled or were skipped, by status.',
  refusals: 'Refusals by guards, by boundary and code.',
  tool_calls: 'Tool calls, by outcome.',
  http_requests: 'Requests at the HTTP edge, by route.',
  log_lines: 'Log lines, by level, also of those that were not written.',
  run_duration: 'Time from the request to the end of a run.',
  step_duration: 'Time from the dispatch of a step to its end.',
  tool_call_duration: 'Time of a tool call as its caller saw it.',
};

interface Histogram {
  readonly counts: number[];
  sum: number;
  count: number;
}

export function createMetrics(): Metrics {
  const counters = new Map<keyof Counters, Map<string, number>>();
  const durations = new Map<keyof Durations, Map<string, Histogram>>();
  return {
    count: (counter, labels) => {
      const series = seriesOf(counters, counter);
      const key = keyIn(series, labels);
      series.set(key, (series.get(key) ?? 0) + 1);
    },
    observe: (duration, seconds, labels) => {
      const series = seriesOf(durations, duration);
      const key = keyIn(series, labels);
      const known = series.get(key);
      const histogram = known ?? { counts: BUCKETS_S.map(() => 0), sum: 0, count: 0 };
      if (known === undefined) series.set(key, histogram);
      const value = Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
      BUCKETS_S.forEach((bound, index) => {
        if (value <= bound) histogram.counts[index] = (histogram.counts[index] ?? 0) + 1;
      });
      histogram.sum += value;
      histogram.count += 1;
    },
    render: () => [...renderCounters(counters), ...renderDurations(durations), ''].join('\n'),
  };
}

function seriesOf<N, V>(all: Map<N, Map<string, V>>, name: N): Map<string, V> {
  const known = all.get(name);
  if (known !== undefined) return known;
  const made = new Map<string, V>();
  all.set(name, made);
  return made;
}

function keyIn(series: ReadonlyMap<string, unknown>, labels: Readonly<Record<string, string>>): string {
  const key = labelText(labels, (value) => value);
  if (series.has(key) || series.size < SERIES_COUNT_MAX) return key;
  return labelText(labels, () => 'other');
}

function labelText(labels: Readonly<Record<string, string>>, valueOf: (value: string) => string): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${word(valueOf(value))}"`)
    .join(',');
}

/** A label is a short word; anything else would be an id or a text, and is told as such. */
function word(value: string): string {
  return value.length <= LABEL_LENGTH_MAX && /^[\w./:{}*-]+$/.test(value) ? value : 'other';
}

function* renderCounters(counters: ReadonlyMap<keyof Counters, ReadonlyMap<string, number>>): Generator<string> {
  for (const [name, series] of counters) {
    yield `# HELP caseops_${name}_total ${HELP[name]}`;
    yield `# TYPE caseops_${name}_total counter`;
    for (const [labels, value] of series) yield `caseops_${name}_total{${labels}} ${value}`;
  }
}

function* renderDurations(durations: ReadonlyMap<keyof Durations, ReadonlyMap<string, Histogram>>): Generator<string> {
  for (const [name, series] of durations) {
    const full = `caseops_${name}_seconds`;
    yield `# HELP ${full} ${HELP[name]}`;
    yield `# TYPE ${full} histogram`;
    for (const [labels, { counts, sum, count }] of series) {
      for (const [index, bound] of BUCKETS_S.entries())
        yield `${full}_bucket{${labels},le="${bound}"} ${counts[index]}`;
      yield `${full}_bucket{${labels},le="+Inf"} ${count}`;
      yield `${full}_sum{${labels}} ${sum}`;
      yield `${full}_count{${labels}} ${count}`;
    }
  }
}
