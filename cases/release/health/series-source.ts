/** The hour before a moment of a recorded series, with the anomalies that people have labelled in it (Numenta Anomaly Benchmark form). */
import { z } from 'zod';
import { HOUR_MS, type HealthSource } from './health-source.ts';

export interface LabelledSeries {
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
  /** Inclusive. */
  readonly anomalies: readonly { readonly fromMs: number; readonly toMs: number }[];
}

const windows = z.record(z.string(), z.array(z.tuple([z.string(), z.string()])));

/** `csv` has the columns timestamp and value; `labels` names each series' windows. Throws when a line or a label cannot be read. */
export function readSeries(csv: string, labels: string, name: string): LabelledSeries {
  const [header, ...lines] = csv.trimEnd().split(/\r?\n/);
  if (header !== 'timestamp,value') throw new Error(`A series begins with timestamp,value, not with ${header}`);
  const points = lines.map((line) => {
    const [time = '', value = ''] = line.split(',');
    if (value.trim() === '' || !Number.isFinite(Number(value))) throw new Error(`${line} is no point of a series`);
    return { atMs: millisOf(time), value: Number(value) };
  });
  const labelled = windows.parse(JSON.parse(labels))[name];
  if (labelled === undefined) throw new Error(`Nobody has looked for anomalies in ${name}`);
  const anomalies = labelled.map(([from, to]) => ({ fromMs: millisOf(from), toMs: millisOf(to) }));
  return { points, anomalies };
}

/** `2014-02-18 16:02:00.000000`, which means UTC. */
function millisOf(text: string): number {
  const ms = Date.parse(`${text.trim().replace(' ', 'T').slice(0, 23)}Z`);
  if (Number.isNaN(ms)) throw new Error(`${text} is no time of a series`);
  return ms;
}

/** The hour up to `atMs`, of the one release that the series is of. */
export function createSeriesSource(
  series: LabelledSeries,
  of: { readonly tenant: string; readonly releaseId: string; readonly atMs: number },
): HealthSource {
  const fromMs = of.atMs - HOUR_MS;
  return {
    lastHour: async (tenant, releaseId) => {
      if (tenant !== of.tenant || releaseId !== of.releaseId) return undefined;
      const seen = series.points.filter(({ atMs }) => atMs > fromMs && atMs <= of.atMs);
      const touching = series.anomalies.filter((anomaly) => anomaly.fromMs <= of.atMs && anomaly.toMs > fromMs);
      return {
        version: `t${of.atMs}`,
        record: {
          release_id: releaseId,
          window_from: iso(fromMs),
          window_to: iso(of.atMs),
          sample_count: seen.length,
          request_count: null,
          error_count: null,
          error_budget_burn: null,
          anomalies: touching.map((anomaly) => ({ from: iso(anomaly.fromMs), to: iso(anomaly.toMs) })),
        },
      };
    },
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();
