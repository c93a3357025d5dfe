/**
 * Real processes, a supervisor and its teams, killed at random times and around their commits, and started again. No acknowledged run is
 * lost, no effect and no accepted result is there twice, every chain holds. Source: issue 5 "It must show".
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveMail, type MailServer } from '#effects/mail/mail-server.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { startPostgres } from '#testing/postgres-cluster.ts';
import { type CheckFailure, type CheckObject, checkObject } from './check-object.ts';
import { auditLogs, type LogAudit } from './kill-audit.ts';
import { type DeathPoint, type Deployment, type DeploymentOrder, startDeployment } from './kill-deployment.ts';
import { createPeople, INQUIRY, NOTICE, type People } from './kill-people.ts';
import { type Dice, seededDice } from './seeded-dice.ts';

export interface KillCampaignOptions {
  readonly store: 'sqlite' | 'postgres';
  /** Processes to kill at least. */
  readonly kills: number;
  readonly seed: number;
  readonly onLife?: (text: string) => void;
}

/** As long as a silent supervisor's runs are its own. */
const LOCK_MS = 5_000;
/** On a crowded machine a life may end before anything was acknowledged: kills that nobody's run has seen show nothing. */
const RUN_COUNT_MIN = 8;
/** After the last kill. */
const SETTLE_MS_MAX = 180_000;
/** A short life leaves runs in the middle; in a long one those of a dead process are taken over. */
const SHORT_MS_MAX = 3_000;
const LONG_MS = { min: 5_000, max: 8_000 } as const;
const POINT_MS_MAX = 8_000;
/** Before the death of a long life somebody asks again. */
const LAST_GOAL_MS_MAX = 1_500;
const POINT_COUNT = 30;
const TEAMS = ['member', 'claims', 'knowledge', 'notification'] as const;

export async function runKillCampaign(options: KillCampaignOptions): Promise<CheckObject> {
  const startedMs = systemClock.nowMs();
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'caseops-kill-'));
  stack.defer(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  const mail = stack.use(await serveMail({ now: () => systemClock.now() }));
  const postgresUrl = options.store === 'postgres' ? await databaseUrl(stack) : undefined;
  const people = createPeople();
  const order = {
    directory,
    postgresUrl,
    mail: { smtp: `${mail.smtp.host}:${mail.smtp.port}`, mailbox: mail.url },
  };
  const killed = await killUntil(options, { order, people });
  const settled = await settleAll({ ...order, point: undefined }, people);
  const audit = await auditLogs(directory, postgresUrl);
  return verdict(options, {
    killed,
    settled,
    audit,
    mail,
    people,
    durationMs: systemClock.nowMs() - startedMs,
  });
}

async function databaseUrl(stack: AsyncDisposableStack): Promise<string> {
  const cluster = stack.use(await startPostgres());
  return stack.use(await cluster.database()).url;
}

interface Killed {
  readonly killCount: number;
  readonly lifeCount: number;
  readonly pointDeathCount: number;
  readonly teamAloneCount: number;
  readonly startsMs: readonly number[];
  readonly gaps: readonly Gap[];
  readonly lastDeathMs: number;
}

/** From the death of one life to where the next was ready; how long that took to start is the machine's affair. */
interface Gap {
  readonly deathMs: number;
  readonly startMs: number;
}

interface Parts {
  readonly order: Omit<DeploymentOrder, 'point'>;
  readonly people: People;
}

async function killUntil(options: KillCampaignOptions, parts: Parts): Promise<Killed> {
  const dice = seededDice(options.seed);
  const seen = { killCount: 0, lifeCount: 0, pointDeathCount: 0, teamAloneCount: 0 };
  const startsMs: number[] = [];
  const gaps: Gap[] = [];
  let deathMs: number | undefined;
  const isEnough = (): boolean => seen.killCount >= options.kills && parts.people.acknowledged.size >= RUN_COUNT_MIN;
  while (!isEnough() && seen.lifeCount < options.kills + RUN_COUNT_MIN) {
    const point = pointOf(dice, seen.lifeCount);
    seen.lifeCount += 1;
    const ask = askerOf(parts.people, seen.lifeCount);
    ask();
    const startMs = systemClock.nowMs();
    const deployment = await startDeployment({ ...parts.order, point });
    const startedInMs = systemClock.nowMs() - startMs;
    if (deployment.ready !== undefined) startsMs.push(startedInMs);
    if (deathMs !== undefined) gaps.push({ deathMs, startMs: startedInMs });
    const lived = await liveAndDie(deployment, {
      point,
      dice,
      people: parts.people,
      ask,
      short: seen.lifeCount % 4 === 1,
    });
    deathMs = systemClock.nowMs();
    seen.killCount += lived.killCount;
    if (lived.atPoint) seen.pointDeathCount += 1;
    if (lived.teamAlone) seen.teamAloneCount += 1;
    const where = point === undefined ? 'at a random time' : `${point.when} commit ${point.nth} of ${point.who}`;
    options.onLife?.(
      `life ${seen.lifeCount}: ${where}, ${seen.killCount} killed, ${parts.people.acknowledged.size} runs`,
    );
  }
  return { ...seen, startsMs, gaps, lastDeathMs: deathMs ?? 0 };
}

/** Each time, a question and a notice that is to be sent. */
function askerOf(people: People, life: number): () => void {
  let count = 0;
  return () => {
    count += 1;
    people.ask(`inquiry-${life}-${count}`, INQUIRY);
    people.ask(`notice-${life}-${count}`, NOTICE);
  };
}

/** Every other life ends around a commit: the n-th, before or after it, of the supervisor or of a team. */
function pointOf(dice: Dice, life: number): DeathPoint | undefined {
  if (life % 2 === 0) return undefined;
  const nth = 1 + (Math.floor(life / 2) % POINT_COUNT);
  const who = dice.chance(0.6) ? 'supervisor' : dice.one(TEAMS);
  return { who, nth, when: dice.one(['before', 'after']) };
}

interface Lived {
  readonly killCount: number;
  readonly atPoint: boolean;
  readonly teamAlone: boolean;
}

interface Life {
  readonly point: DeathPoint | undefined;
  readonly short: boolean;
  readonly dice: Dice;
  readonly people: People;
  readonly ask: () => void;
}

function delayOf({ point, short, dice }: Life): number {
  if (point !== undefined) return POINT_MS_MAX;
  return short ? dice.below(SHORT_MS_MAX) : LONG_MS.min + dice.below(LONG_MS.max - LONG_MS.min);
}

async function liveAndDie(deployment: Deployment, by: Life): Promise<Lived> {
  const { point, dice, people } = by;
  const { ready } = deployment;
  const delayMs = delayOf(by);
  const teamAlone = point === undefined && dice.chance(0.3);
  const teamsFirst = dice.chance(0.5);
  const team = dice.one(TEAMS);
  const supervisorDied = deployment.ended.then((how) => how === 'SIGKILL');
  if (ready === undefined) return diedEarly(deployment, point);
  const over = new AbortController();
  const work = people.work(ready, over.signal);
  const first = Math.max(0, delayMs - 1 - dice.below(LAST_GOAL_MS_MAX));
  let died = await Promise.race([supervisorDied, systemClock.sleep(first).then(() => false)]);
  let killCount = died ? 1 : 0;
  if (!died) {
    by.ask();
    killCount += teamAlone && deployment.killTeam(team) ? 1 : 0;
    died = await Promise.race([supervisorDied, systemClock.sleep(delayMs - first).then(() => false)]);
  }
  over.abort();
  // A team that died at its commit by itself is not there to be killed any more.
  const survivors = deployment.kill(teamsFirst);
  const teamDied = point !== undefined && point.who !== 'supervisor' && survivors < ready.teams.length + 1;
  killCount += survivors + (teamDied ? 1 : 0);
  await Promise.all([deployment.ended, work]);
  return { killCount, atPoint: died || teamDied, teamAlone };
}

/** A team that dies while it starts takes the whole start with it. */
async function diedEarly(deployment: Deployment, point: DeathPoint | undefined): Promise<Lived> {
  const how = await deployment.ended;
  const byKill = how === 'SIGKILL' || deployment.said().includes('SIGKILL');
  return { killCount: byKill ? 1 : 0, atPoint: byKill && point !== undefined, teamAlone: false };
}

interface SettledRuns {
  readonly startMs: number;
  readonly ended: ReadonlyMap<string, number>;
  readonly blockedCount: number;
  readonly lost: readonly CheckFailure[];
}

/** Starts once more and lets everything come to its end. */
async function settleAll(order: DeploymentOrder, people: People): Promise<SettledRuns> {
  const beganMs = systemClock.nowMs();
  const deployment = await startDeployment(order);
  const startMs = systemClock.nowMs() - beganMs;
  const { ready } = deployment;
  if (ready === undefined)
    return {
      startMs,
      ended: new Map(),
      blockedCount: 0,
      lost: [{ id: 'start', expected: 'a deployment', got: deployment.said() }],
    };
  const over = new AbortController();
  const work = people.work(ready, over.signal);
  const ended = new Map<string, number>();
  const lost: CheckFailure[] = [];
  let blockedCount = 0;
  const untilMs = systemClock.nowMs() + SETTLE_MS_MAX;
  for (const [key, runId] of people.acknowledged) {
    let view = await people.view(ready, runId);
    while (view?.state !== 'ended' && systemClock.nowMs() < untilMs) {
      await systemClock.sleep(100);
      view = await people.view(ready, runId);
    }
    if (view?.state === 'ended') ended.set(view.result ?? 'none', (ended.get(view.result ?? 'none') ?? 0) + 1);
    else if (view?.state === 'blocked' && view.blocked !== null) blockedCount += 1;
    else
      lost.push({
        id: `lost:${key}`,
        expected: 'a run that ended or says what it waits for',
        got: `${runId} is ${view?.state ?? 'unknown'}`,
      });
  }
  over.abort();
  await work;
  await deployment.stop();
  return { startMs, ended, blockedCount, lost };
}

interface Outcome {
  readonly killed: Killed;
  readonly settled: SettledRuns;
  readonly audit: LogAudit;
  readonly mail: MailServer;
  readonly people: People;
  readonly durationMs: number;
}

function verdict(options: KillCampaignOptions, of: Outcome): CheckObject {
  const { killed, settled, audit, mail, people, durationMs } = of;
  const failures = [...settled.lost];
  const expect = (id: string, got: number, expected: number): void => {
    if (got !== expected) failures.push({ id, expected: String(expected), got: String(got) });
  };
  const runIds = new Set(audit.runs.map(({ ref }) => ref.runId as string));
  const missing = [...people.acknowledged.values()].filter((runId) => !runIds.has(runId));
  expect(
    'runs in the store that were acknowledged',
    people.acknowledged.size - missing.length,
    people.acknowledged.size,
  );
  expect('runs per key', runIds.size, people.acknowledged.size);
  const messageIds = new Set(mail.received.map(({ message_id }) => message_id));
  const duplicateEffectCount = mail.received.length - messageIds.size;
  expect('effects that are there twice', duplicateEffectCount, 0);
  // One in doubt may be there or not: its run says so, and a person is to find out.
  const { confirmedCount, openEffectCount } = audit;
  if (mail.received.length < confirmedCount || mail.received.length > confirmedCount + openEffectCount)
    failures.push({
      id: 'effects at the owner',
      expected: `${confirmedCount} that were read back, and of ${openEffectCount} in doubt any`,
      got: String(mail.received.length),
    });
  expect('accepted results that are there twice', audit.duplicateResultCount, 0);
  for (const broken of audit.brokenChains) failures.push({ id: 'chain', expected: 'a chain that holds', got: broken });
  const resumes = resumesOf(
    [...killed.gaps, { deathMs: killed.lastDeathMs, startMs: settled.startMs }],
    audit.recoveries,
  );
  const resumeP99Ms = percentile(resumes.besidesStartMs, 99);
  if (resumeP99Ms > 2 * LOCK_MS)
    failures.push({ id: 'time to resume p99', expected: `at most ${2 * LOCK_MS} ms`, got: `${resumeP99Ms} ms` });
  return checkObject(`campaign:kill ${options.store}`, {
    passed: people.acknowledged.size,
    failures,
    seed: options.seed,
    figures: {
      killCount: killed.killCount,
      lifeCount: killed.lifeCount,
      commitPointDeathCount: killed.pointDeathCount,
      teamAloneKillCount: killed.teamAloneCount,
      acknowledgedRunCount: people.acknowledged.size,
      lostRunCount: settled.lost.length + missing.length,
      blockedRunCount: settled.blockedCount,
      ...Object.fromEntries([...settled.ended].map(([result, count]) => [`runCount:${result}`, count])),
      ...Object.fromEntries(
        [...Map.groupBy(audit.stepErrors, (code) => code)].map(([code, all]) => [`stepErrorCount:${code}`, all.length]),
      ),
      effectCount: mail.received.length,
      duplicateEffectCount,
      openEffectCount: audit.openEffectCount,
      duplicateResultCount: audit.duplicateResultCount,
      brokenChainCount: audit.brokenChains.length,
      eventCount: audit.eventCount,
      recoveryCount: audit.recoveries.length,
      resumeP50Ms: percentile(resumes.besidesStartMs, 50),
      resumeP99Ms,
      resumeFromDeathP50Ms: percentile(resumes.fromDeathMs, 50),
      resumeFromDeathP99Ms: percentile(resumes.fromDeathMs, 99),
      lockMs: LOCK_MS,
      startP50Ms: percentile(killed.startsMs, 50),
      durationMs,
    },
  });
}

/** From the last death before it to each recovery: with what the start of a process took, and without. */
function resumesOf(
  gaps: readonly Gap[],
  recoveries: LogAudit['recoveries'],
): { readonly fromDeathMs: readonly number[]; readonly besidesStartMs: readonly number[] } {
  const found = recoveries.flatMap(({ at, receivedAt }) => {
    const atMs = Date.parse(at);
    const gap = gaps.findLast(({ deathMs }) => deathMs <= atMs);
    return gap === undefined || Date.parse(receivedAt) > gap.deathMs ? [] : [{ ms: atMs - gap.deathMs, ...gap }];
  });
  return {
    fromDeathMs: found.map(({ ms }) => ms),
    besidesStartMs: found.map(({ ms, startMs }) => Math.max(0, ms - startMs)),
  };
}

function percentile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((rank / 100) * sorted.length) - 1)] ?? 0;
}
