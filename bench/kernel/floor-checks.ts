/** The targets of the store floor, held against what was measured. DESIGN §9. */
import type { CheckObject } from '#lab/check-object.ts';
import { round } from '../measure.ts';
import { reportOf, type Target } from '../report.ts';

const SQLITE_RUNS_PER_SECOND_MIN = 2_500;
const POSTGRES_RUNS_PER_SECOND_MIN = 1_500;
const LANGGRAPH_FACTOR_MIN = 10;
const COMMIT_FACTOR_MAX = 3;

export function checkFloor(measured: Readonly<Record<string, number>>, date: string): CheckObject {
  const of = (figure: string): number => measured[figure] ?? Number.NaN;
  const factors = {
    sqliteAt16_timesLangGraph: of('sqliteAt16_runsPerSecond') / of('langgraphAt16_runsPerSecond'),
    sqliteAt1_p50TimesItsCommits: of('sqliteAt1_p50Ms') / of('bareSqliteAt1_p50Ms'),
    postgresAt1_p50TimesItsCommits: of('postgresAt1_p50Ms') / of('barePostgresAt1_p50Ms'),
  };
  const perSecond = 'runs/s';
  const commits = { most: COMMIT_FACTOR_MAX, unit: 'times the bare commits' };
  const targets: readonly Target[] = [
    { id: 'sqlite-at-16', got: of('sqliteAt16_runsPerSecond'), least: SQLITE_RUNS_PER_SECOND_MIN, unit: perSecond },
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
      unit: perSecond,
    },
    { id: 'sqlite-p50-at-1', got: factors.sqliteAt1_p50TimesItsCommits, ...commits },
    { id: 'postgres-p50-at-1', got: factors.postgresAt1_p50TimesItsCommits, ...commits },
  ];
  const known = Object.entries(factors).filter(([, factor]) => Number.isFinite(factor));
  const figures = { ...measured, ...Object.fromEntries(known.map(([name, factor]) => [name, round(factor)])) };
  return reportOf('bench:kernel', { targets, figures, date });
}
