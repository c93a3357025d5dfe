/** The targets of the store floor, held against what was measured. DESIGN §9. */
import type { CheckObject } from '#lab/check-object.ts';
import { round } from '../measure.ts';

const SQLITE_RUNS_PER_SECOND_MIN = 2_500;
const POSTGRES_RUNS_PER_SECOND_MIN = 1_500;
const LANGGRAPH_FACTOR_MIN = 10;
const COMMIT_FACTOR_MAX = 3;

interface Check {
  readonly id: string;
  /** NaN where it was not measured. */
  readonly got: number;
  readonly least?: number;
  readonly most?: number;
  readonly unit: string;
}

/** A target whose figures are missing is not tested, which is not ok. */
export function checkFloor(measured: Readonly<Record<string, number>>, date: string): CheckObject {
  const of = (figure: string): number => measured[figure] ?? Number.NaN;
  const factors = {
    sqliteAt16_timesLangGraph: of('sqliteAt16_runsPerSecond') / of('langgraphAt16_runsPerSecond'),
    sqliteAt1_p50TimesItsCommits: of('sqliteAt1_p50Ms') / of('bareSqliteAt1_p50Ms'),
    postgresAt1_p50TimesItsCommits: of('postgresAt1_p50Ms') / of('barePostgresAt1_p50Ms'),
  };
  const commits = { most: COMMIT_FACTOR_MAX, unit: 'times the bare commits' };
  const checks: readonly Check[] = [
    { id: 'sqlite-at-16', got: of('sqliteAt16_runsPerSecond'), least: SQLITE_RUNS_PER_SECOND_MIN, unit: 'runs/s' },
    {
      id: 'sqlite-beside-langgraph',
      got: factors.sqliteAt16_timesLangGraph,
      least: LANGGRAPH_FACTOR_MIN,
      unit: 'times',
    },
    {
      id: 'postgres-at-16',
      got: of('postgresAt16_runsPerSecond'),
      least: POSTGRES_RUNS_PER_SECOND_MIN,
      unit: 'runs/s',
    },
    { id: 'sqlite-p50-at-1', got: factors.sqliteAt1_p50TimesItsCommits, ...commits },
    { id: 'postgres-p50-at-1', got: factors.postgresAt1_p50TimesItsCommits, ...commits },
  ];
  const tested = checks.filter(({ got }) => Number.isFinite(got));
  const failed = tested.filter(({ got, least = -Infinity, most = Infinity }) => got < least || got > most);
  const known = Object.entries(factors).filter(([, factor]) => Number.isFinite(factor));
  return {
    name: 'bench:kernel',
    ok: failed.length === 0 && tested.length === checks.length,
    counts: {
      passed: tested.length - failed.length,
      failed: failed.length,
      pending: 0,
      notTested: checks.length - tested.length,
    },
    figures: { ...measured, ...Object.fromEntries(known.map(([name, factor]) => [name, round(factor)])) },
    failures: failed.map(({ id, got, least, most, unit }) => ({
      id,
      expected: least === undefined ? `at most ${most} ${unit}` : `at least ${least} ${unit}`,
      got: `${round(got)} ${unit}`,
    })),
    date,
  };
}
