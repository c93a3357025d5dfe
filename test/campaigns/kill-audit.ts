/** Reads, after the campaign, what the logs of supervisor and teams and the mailbox hold. INV-05, INV-11, INV-12. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEvent } from '#contracts/event.ts';
import { verifyChain } from '#kernel/chain.ts';
import type { RunHead, Store } from '#ports/store.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { openPostgresStore } from '#stores/postgres/postgres-store.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';

export interface LogAudit {
  readonly runs: readonly RunHead[];
  readonly eventCount: number;
  /** Results accepted beyond the first of their step and plan version. */
  readonly duplicateResultCount: number;
  readonly brokenChains: readonly string[];
  readonly recoveries: readonly { readonly runId: string; readonly at: string; readonly receivedAt: string }[];
  /** Effects that were read back. */
  readonly confirmedCount: number;
  readonly openEffectCount: number;
  /** Codes of the errors with which steps of central runs failed. */
  readonly stepErrors: readonly string[];
}

const RUN_COUNT_MAX = 10_000;
const EVENT_COUNT_MAX = 10_000;

export async function auditLogs(directory: string, postgresUrl: string | undefined): Promise<LogAudit> {
  const audits: LogAudit[] = [];
  await using central = await openCentral(directory, postgresUrl);
  audits.push(await auditStore(central, 'central'));
  for (const team of readdirSync(join(directory, 'teams')))
    for (const file of readdirSync(join(directory, 'teams', team)).filter((name) => name.endsWith('.db'))) {
      await using store = openSqliteStore({ path: join(directory, 'teams', team, file), clock: systemClock });
      audits.push(await auditStore(store, 'team'));
    }
  const [of] = audits;
  const all = <T>(part: (audit: LogAudit) => readonly T[]): readonly T[] => audits.flatMap(part);
  const sum = (part: (audit: LogAudit) => number): number => audits.reduce((total, audit) => total + part(audit), 0);
  return {
    runs: of?.runs ?? [],
    eventCount: sum(({ eventCount }) => eventCount),
    duplicateResultCount: sum(({ duplicateResultCount }) => duplicateResultCount),
    brokenChains: all(({ brokenChains }) => brokenChains),
    recoveries: of?.recoveries ?? [],
    confirmedCount: sum(({ confirmedCount }) => confirmedCount),
    openEffectCount: sum(({ openEffectCount }) => openEffectCount),
    stepErrors: of?.stepErrors ?? [],
  };
}

async function openCentral(directory: string, postgresUrl: string | undefined): Promise<Store> {
  if (postgresUrl !== undefined) return openPostgresStore({ url: postgresUrl, clock: systemClock });
  return openSqliteStore({ path: join(directory, 'caseops.db'), clock: systemClock });
}

async function auditStore(store: Store, level: 'central' | 'team'): Promise<LogAudit> {
  const runs = await store.runs({ limit: RUN_COUNT_MAX, level });
  const logs = await Promise.all(runs.map(({ ref }) => store.events(ref, 0, EVENT_COUNT_MAX)));
  const broken = runs.flatMap(({ ref }, at) => {
    const verdict = verifyChain({ ref, seq: 0, hash: '' }, logs[at] ?? []);
    return verdict.ok ? [] : [`${ref.runId} at ${verdict.seq}: ${verdict.expected}, not ${verdict.got}`];
  });
  const counted = logs.map(effectsOf);
  return {
    runs,
    eventCount: logs.reduce((total, log) => total + log.length, 0),
    duplicateResultCount: logs.reduce((total, log) => total + duplicatesOf(log), 0),
    brokenChains: broken,
    recoveries: logs.flatMap(recoveriesOf),
    confirmedCount: counted.reduce((total, { confirmed }) => total + confirmed, 0),
    openEffectCount: counted.reduce((total, { open }) => total + open, 0),
    stepErrors: logs.flatMap((log) =>
      log.flatMap(({ kind, body }) => (kind === 'step.settled' ? body.result.errors.map(({ code }) => code) : [])),
    ),
  };
}

function duplicatesOf(log: readonly RunEvent[]): number {
  const counts = new Map<string, number>();
  for (const { kind, body } of log) {
    const key =
      kind === 'artifact.accepted'
        ? `accepted ${body.stepId} ${body.planVersion}`
        : kind === 'step.settled'
          ? `settled ${body.result.stepId} ${body.result.planVersion}`
          : undefined;
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts.values()].reduce((total, count) => total + count - 1, 0);
}

function recoveriesOf(log: readonly RunEvent[]): LogAudit['recoveries'] {
  const [first] = log;
  return log.flatMap(({ kind, at, runId }) =>
    kind === 'run.recovered' ? [{ runId, at, receivedAt: first?.at ?? at }] : [],
  );
}

function effectsOf(log: readonly RunEvent[]): { readonly confirmed: number; readonly open: number } {
  const states = new Map<string, 'open' | 'confirmed' | 'over'>();
  for (const { kind, body } of log) {
    if (kind === 'effect.intended') states.set(body.effectId, 'open');
    else if (kind === 'effect.confirmed') states.set(body.effectId, 'confirmed');
    else if (kind === 'effect.failed') states.set(body.effectId, 'over');
  }
  const count = (state: string): number => [...states.values()].filter((one) => one === state).length;
  return { confirmed: count('confirmed'), open: count('open') };
}
