/** The kept report of the simulator: sittings whose seed ranges do not overlap, all on one kernel. */
import type { SimCheck } from './sim.ts';

export interface Sitting {
  readonly signing: 'stub' | 'real';
  readonly from: number;
  readonly seedCount: number;
  readonly runCount: number;
  readonly centralRunCount: number;
  readonly eventCount: number;
  readonly faultCount: number;
  readonly effectCount: number;
  readonly violationCount: number;
  readonly durationMs: number;
  readonly roomsDigest: string;
  readonly date: string;
}

export interface SimReport {
  readonly name: 'sim';
  readonly ok: boolean;
  readonly kernelDigest: string;
  readonly totals: Readonly<Record<'stub' | 'real', { readonly seedCount: number; readonly runCount: number }>>;
  readonly sittings: readonly Sitting[];
}

/** Throws a sentence for a sitting of another kernel and for seeds that were counted before. */
export function mergeSitting(kept: SimReport | undefined, check: SimCheck): SimReport {
  const { kernelDigest, roomsDigest, signing, from, figures, date, counts } = check;
  if (kept !== undefined && kept.kernelDigest !== kernelDigest)
    throw new Error(
      `The report is of kernel ${kept.kernelDigest}; this sitting is of ${kernelDigest}. Begin a new one.`,
    );
  const of = (name: string): number => figures[name] ?? 0;
  const sitting: Sitting = {
    signing,
    from,
    seedCount: of('seedCount'),
    runCount: of('runCount'),
    centralRunCount: of('centralRunCount'),
    eventCount: of('eventCount'),
    faultCount: of('faultCount'),
    effectCount: of('effectCount'),
    violationCount: counts.failed,
    durationMs: of('durationMs'),
    roomsDigest,
    date,
  };
  const before = kept?.sittings ?? [];
  const twice = before.find((other) => other.signing === signing && overlap(other, sitting));
  if (twice !== undefined)
    throw new Error(
      `Seeds ${twice.from} to ${twice.from + twice.seedCount - 1} (${signing}) are in the report already.`,
    );
  const sittings = [...before, sitting];
  return {
    name: 'sim',
    ok: sittings.every(({ violationCount }) => violationCount === 0),
    kernelDigest,
    totals: { stub: total(sittings, 'stub'), real: total(sittings, 'real') },
    sittings,
  };
}

function overlap(one: Sitting, other: Sitting): boolean {
  return one.from < other.from + other.seedCount && other.from < one.from + one.seedCount;
}

export function total(
  sittings: readonly Sitting[],
  signing: Sitting['signing'],
): { readonly seedCount: number; readonly runCount: number } {
  const of = sittings.filter((sitting) => sitting.signing === signing);
  return {
    seedCount: of.reduce((sum, { seedCount }) => sum + seedCount, 0),
    runCount: of.reduce((sum, { runCount }) => sum + runCount, 0),
  };
}
