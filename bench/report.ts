/** Targets held against what was measured, as a check object. */
import type { CheckObject } from '#lab/check-object.ts';
import { round } from './measure.ts';

export interface Target {
  readonly id: string;
  /** NaN where it was not measured: then it is not tested, which is not ok. */
  readonly got: number;
  readonly least?: number;
  readonly most?: number;
  readonly unit: string;
}

/** Ok means that every target was measured and held. */
export function reportOf(
  name: string,
  {
    targets,
    figures,
    date,
  }: {
    readonly targets: readonly Target[];
    readonly figures: Readonly<Record<string, number>>;
    readonly date: string;
  },
): CheckObject {
  const tested = targets.filter(({ got }) => Number.isFinite(got));
  const failed = tested.filter(({ got, least = -Infinity, most = Infinity }) => got < least || got > most);
  return {
    name,
    ok: failed.length === 0 && tested.length === targets.length,
    counts: {
      passed: tested.length - failed.length,
      failed: failed.length,
      pending: 0,
      notTested: targets.length - tested.length,
    },
    figures,
    failures: failed.map(({ id, got, least, most, unit }) => ({
      id,
      expected: least === undefined ? `at most ${most} ${unit}` : `at least ${least} ${unit}`,
      got: `${round(got)} ${unit}`,
    })),
    date,
  };
}
