/**
 * Crashes inside one process by the thousand: at a point that the dice choose everything in memory is dropped, the database is opened again,
 * the run is taken up, and each job of the writer is delivered three times. The owner is as unhelpful as one can be: it knows no key and no
 * precondition, so that each send is another effect.
 */
import { approve, askForNotice, latestApproval } from '#lab/effects/desk-work.ts';
import { APPROVER, REQUESTER } from '#lab/effects/notice-teams.ts';
import { openNoticeWorld } from '#lab/effects/open-world.ts';
import { policyOf } from '#lab/effects/stage.ts';
import { WRITER_POINTS } from '#effects/writer-options.ts';
import type { RunId } from '#contracts/ids.ts';
import type { RunView } from '#contracts/run-view.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import type { EffectWriter } from '#ports/effect-writer.ts';
import type { Store } from '#ports/store.ts';
import type { EffectWorld } from '#runtime/effect-world.ts';
import { createMemoryTarget, type ApplyFault, type MemoryTarget } from '#testing/memory-effect-target.ts';
import { seededClock, type SeededClock } from '#testing/seeded-clock.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckFailure } from './check-object.ts';
import { PERSISTED_POINTS, type StopAt, stopAtCommit, stopAtOwner } from './effects-points.ts';
import { seededDice, type Dice } from './seeded-dice.ts';

export interface CrashesResult {
  readonly crashCount: number;
  readonly runCount: number;
  readonly redeliveryCount: number;
  readonly duplicateCount: number;
  readonly missingCount: number;
  readonly unresolvedCount: number;
  /** Runs whose owner had to be asked again by a person. */
  readonly reconciledCount: number;
  readonly failures: readonly CheckFailure[];
}

export interface CrashesOptions {
  readonly crashCount: number;
  readonly seed: number;
  readonly durationMsMax: number;
  readonly nowMs: () => number;
  /** A mistake to be found: for the campaign's own test. */
  readonly breakTarget?: (target: EffectTarget) => EffectTarget;
}

const START_MS = Date.UTC(2026, 6, 22, 14, 0, 0);
const CRASHES_PER_RUN_MAX = 6;
const TURN_MS = 10;
const TURN_COUNT_MAX = 1_500;
/** Between a crash and the next process: longer than a run lock lives. */
const DOWN_MS = 1_000;
const FAULTS: readonly [undefined, ...(ApplyFault | undefined)[]] = [
  undefined,
  undefined,
  'lost_reply',
  'lost_request',
  'unavailable_before',
  'unavailable_after',
];

/** Ends early, with what it has, when its time is over. */
export async function runCrashes(options: CrashesOptions): Promise<CrashesResult> {
  const dice = seededDice(options.seed);
  const directory = mkdtempSync(join(tmpdir(), 'caseops-crashes-'));
  const total = { crashCount: 0, runCount: 0, redeliveryCount: 0, duplicateCount: 0, missingCount: 0 };
  const open = { unresolvedCount: 0, reconciledCount: 0 };
  const failures: CheckFailure[] = [];
  const untilMs = options.nowMs() + options.durationMsMax;
  try {
    const template = await prepareRun(directory);
    while (total.crashCount < options.crashCount && options.nowMs() < untilMs) {
      total.runCount += 1;
      const got = await playRun({ ...options, dice, directory, template, number: total.runCount });
      total.crashCount += got.crashCount;
      total.redeliveryCount += got.redeliveryCount;
      total.duplicateCount += Math.max(0, got.effectCount - 1);
      if (got.isMissing) total.missingCount += 1;
      if (got.isOpen) open.unresolvedCount += 1;
      if (got.wasReconciled) open.reconciledCount += 1;
      if (got.effectCount <= 1 && !got.isMissing && !got.isOpen) continue;
      const said = `${got.effectCount} effects, run ${got.said}`;
      failures.push({
        id: `run ${total.runCount}: ${got.story}`,
        expected: 'one effect at most, and known',
        got: said,
      });
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return { ...total, ...open, failures };
}

interface Template {
  readonly path: string;
  readonly runId: string;
  readonly atMs: number;
}

/** A database in which a notice waits for approval. */
async function prepareRun(directory: string): Promise<Template> {
  const path = join(directory, 'template.db');
  const clock = seededClock(START_MS);
  const world = openWorld({ path, clock, idSeed: 'template', target: createMemoryTarget({ clock, dedupes: false }) });
  const asked = askForNotice(world, 'C-102');
  await turnUntil(clock, asked);
  const { runId } = await asked;
  const closed = Promise.resolve(world[Symbol.asyncDispose]());
  await turnUntil(clock, closed);
  return { path, runId, atMs: clock.nowMs() };
}

interface Play extends CrashesOptions {
  readonly dice: Dice;
  readonly directory: string;
  readonly template: Template;
  readonly number: number;
}

interface Played {
  readonly crashCount: number;
  readonly redeliveryCount: number;
  readonly effectCount: number;
  readonly isMissing: boolean;
  readonly isOpen: boolean;
  readonly wasReconciled: boolean;
  readonly said: string;
  readonly story: string;
}

async function playRun(play: Play): Promise<Played> {
  const { dice, directory, template, number } = play;
  const path = join(directory, `${number}.db`);
  for (const suffix of ['', '-wal'])
    if (existsSync(`${template.path}${suffix}`)) copyFileSync(`${template.path}${suffix}`, `${path}${suffix}`);
  const owner = createMemoryTarget({ clock: seededClock(template.atMs), dedupes: false });
  const fault = dice.one(FAULTS);
  if (fault !== undefined) owner.faults.push(fault);
  owner.hiddenReadBackCount = dice.chance(0.3) ? dice.below(8) : 0;
  const story = [`fault ${fault ?? 'none'}, hidden ${owner.hiddenReadBackCount}`];
  const counts = { crash: 0, redelivery: 0 };
  const crashMax = 1 + dice.below(CRASHES_PER_RUN_MAX);
  let atMs = template.atMs + DOWN_MS;
  for (let life = 1; ; life++) {
    const clock = seededClock(atMs);
    const stop = life <= crashMax ? stopOf(dice) : undefined;
    const lived = await live(play, { path, clock, owner, stop, life, counts });
    atMs = clock.nowMs() + DOWN_MS;
    if (!lived.crashed) {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
      const { view, wasReconciled } = lived;
      const effectCount = owner.appliedCount();
      return {
        crashCount: counts.crash,
        redeliveryCount: counts.redelivery,
        effectCount,
        isMissing: view.result === 'completed' && effectCount === 0,
        isOpen: isOpen(view),
        wasReconciled,
        said: `${view.result ?? view.state} with effects ${view.effects.map(({ state }) => state).join(',') || 'none'}`,
        story: story.join('; '),
      };
    }
    counts.crash += 1;
    story.push(`${stop?.when} ${stop?.point}`);
  }
}

function stopOf(dice: Dice): StopAt {
  const when = dice.chance(0.5) ? 'before' : 'after';
  // Points between commits leave nothing behind of their own; what is lost there is what is in memory.
  return { point: dice.one(['run.recovered', 'run.completed', ...PERSISTED_POINTS, ...WRITER_POINTS]), when };
}

type Lived =
  | { readonly crashed: true }
  | { readonly crashed: false; readonly view: RunView; readonly wasReconciled: boolean };

interface Life {
  readonly path: string;
  readonly clock: SeededClock;
  readonly owner: MemoryTarget;
  readonly stop: StopAt | undefined;
  readonly life: number;
  readonly counts: { crash: number; redelivery: number };
}

/** One process: takes the run up, approves if need be, and comes to its end or to its crash. */
async function live({ template, number, breakTarget, seed }: Play, of: Life): Promise<Lived> {
  const { path, clock, owner, stop, life, counts } = of;
  const crash = Promise.withResolvers<void>();
  const dead = { is: false };
  const die = (): Promise<void> => {
    dead.is = true;
    crash.resolve();
    return new Promise(() => undefined);
  };
  const naive = unguarded(owner);
  const target = whileAlive(breakTarget?.(naive) ?? naive, dead);
  const world = openWorld({
    path,
    clock,
    idSeed: `${seed}-${number}-${life}`,
    target: stop === undefined ? target : stopAtOwner(target, stop, die),
    ...(stop === undefined ? {} : { stop, die }),
    dead,
    onRedelivery: () => (counts.redelivery += 1),
  });
  const work = workThrough(world, template.runId, { clock, owner, isLast: stop === undefined });
  const ended = await turnUntil(clock, Promise.race([work, crash.promise.then(() => undefined)]), () => dead.is);
  dead.is = true;
  await world.store[Symbol.asyncDispose]();
  return ended === undefined ? { crashed: true } : { crashed: false, ...ended };
}

interface Work {
  readonly clock: SeededClock;
  readonly owner: MemoryTarget;
  readonly isLast: boolean;
}

async function workThrough(
  world: EffectWorld,
  runId: string,
  { owner }: Work,
): Promise<{ readonly view: RunView; readonly wasReconciled: boolean }> {
  await world.resume();
  const row = await latestApproval(world, runId);
  if (row.state === 'pending') await approve(world, row);
  const ref = { tenant: REQUESTER.tenant, runId: runId as RunId };
  await world.driver.settled(ref);
  let view = await world.desk.view(REQUESTER, runId);
  const doubtful = view.effects.find(({ state }) => state === 'unknown' || state === 'in_progress');
  if (doubtful === undefined) return { view, wasReconciled: false };
  owner.hiddenReadBackCount = 0;
  const { effectId } = doubtful;
  await world.desk.reconcile(APPROVER, { effectId, finding: undefined, reason: null }, new AbortController().signal);
  await world.driver.settled(ref);
  view = await world.desk.view(REQUESTER, runId);
  return { view, wasReconciled: true };
}

function isOpen({ state, effects }: RunView): boolean {
  return state !== 'ended' || effects.some((effect) => !['completed', 'failed'].includes(effect.state));
}

interface WorldParts {
  readonly path: string;
  readonly clock: SeededClock;
  readonly idSeed: string;
  readonly target: EffectTarget;
  readonly stop?: StopAt;
  readonly die?: () => Promise<void>;
  readonly dead?: { readonly is: boolean };
  readonly onRedelivery?: () => void;
}

function openWorld(parts: WorldParts): EffectWorld {
  const { path, clock, idSeed, target, stop, die, dead, onRedelivery } = parts;
  return openNoticeWorld({
    path,
    clock,
    ids: seededIds(idSeed),
    target,
    policy: policyOf(),
    wrapStore: (store) => {
      const mortal = dead === undefined ? store : mortalStore(store, dead);
      return stop === undefined || die === undefined ? mortal : stopAtCommit(mortal, stop, die);
    },
    wrapWriter: (writer) => (onRedelivery === undefined ? writer : redelivering(writer, onRedelivery)),
    ...(stop === undefined || die === undefined
      ? {}
      : { onPoint: (point) => (point === stop.point ? die() : undefined) }),
  });
}

/** Each job of the writer comes three times. What a later delivery is refused for is not the run's concern. */
function redelivering(writer: EffectWriter, onRedelivery: () => void): EffectWriter {
  return {
    ...writer,
    apply: async (ref, todo, signal) => {
      await writer.apply(ref, todo, signal);
      for (let again = 1; again <= 2; again++) {
        onRedelivery();
        await writer.apply(ref, todo, signal).catch(() => undefined);
      }
    },
  };
}

/** A process that is gone does nothing any more. */
function mortalStore(store: Store, dead: { readonly is: boolean }): Store {
  const never = new Promise<never>(() => undefined);
  return {
    ...store,
    commit: (commit) => (dead.is ? never : store.commit(commit)),
    write: (records) => (dead.is ? never : store.write(records)),
    heartbeat: (owner, ttlMs) => (dead.is ? never : store.heartbeat(owner, ttlMs)),
    takeLock: (ref, owner, ttlMs) => (dead.is ? never : store.takeLock(ref, owner, ttlMs)),
    takeOpenRuns: (level, by, limit) => (dead.is ? never : store.takeOpenRuns(level, by, limit)),
    events: (ref, afterSeq, limit) => (dead.is ? never : store.events(ref, afterSeq, limit)),
    effectByKey: (tenant, key) => (dead.is ? never : store.effectByKey(tenant, key)),
  };
}

function whileAlive(target: EffectTarget, dead: { readonly is: boolean }): EffectTarget {
  const never = new Promise<never>(() => undefined);
  return {
    ...target,
    apply: (request, signal) => (dead.is ? never : target.apply(request, signal)),
    readBack: (key, action, signal) => (dead.is ? never : target.readBack(key, action, signal)),
  };
}

/** Always at the same version, and without a precondition: a second send is a second effect. */
function unguarded(owner: MemoryTarget): EffectTarget {
  return {
    ...owner,
    read: async (resource, tenant, signal) => ({ ...(await owner.read(resource, tenant, signal)), version: 'v1' }),
    apply: async (request, signal) => {
      const { version } = await owner.read(request.action.resource, request.action.tenant, signal);
      return owner.apply({ ...request, expectedVersion: version }, signal);
    },
  };
}

/** Advances time until the promise is settled, or what it waits for is dead. */
async function turnUntil<T>(clock: SeededClock, promise: Promise<T>, isOver = () => false): Promise<T> {
  const state = { settled: false };
  const note = (): void => void (state.settled = true);
  promise.then(note, note);
  for (let turn = 0; !state.settled && !isOver() && turn < TURN_COUNT_MAX; turn++) await clock.advance(TURN_MS);
  if (!state.settled && !isOver()) throw new Error('a run did not settle in its time');
  return promise;
}
