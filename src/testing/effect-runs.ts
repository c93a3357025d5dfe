/**
 * Runs that only have effects, on a real store, driver, issuer, guard and writer, with targets in memory and processes that can die: what
 * the tests of the writer drive. No teams take part. For tests.
 */
import { createEmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { generateSigner } from '#authority/es256.ts';
import { createGuard } from '#authority/guard.ts';
import type { ApprovalRow } from '#contracts/approval.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { RunId } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { Plan } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { createAdmissionQueue } from '#control/admission-queue.ts';
import { createApprovalDesk } from '#control/approval-desk.ts';
import { createApprovalPolicy } from '#control/approval-policy.ts';
import { createRunHandlers } from '#control/run-handlers.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { createEffectWriter } from '#effects/writer.ts';
import { WRITER_AUDIENCE, type WriterPoint } from '#effects/writer-options.ts';
import { digestOf } from '#kernel/digest.ts';
import { foldRun } from '#kernel/evolve.ts';
import { goalDigest } from '#kernel/goal-digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { ApprovalDesk } from '#ports/approval-desk.ts';
import type { ApprovalPolicy } from '#ports/approval-policy.ts';
import type { Driver } from '#ports/driver.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import type { EffectWriter } from '#ports/effect-writer.ts';
import type { Planner } from '#ports/model.ts';
import type { Store } from '#ports/store.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import {
  announcementOf,
  INQUIRY_GRANT,
  INQUIRY_KIND,
  INQUIRY_SKILLS,
  inquiryGoal,
  inquirySnapshot,
  SUPERVISOR,
} from './inquiry-case.ts';
import { type MortalProcess, mortalProcess } from './mortal-process.ts';
import { APPROVER } from './notice-case.ts';
import { seededClock, type SeededClock } from './seeded-clock.ts';
import { seededIds } from './seeded-ids.ts';

const START_MS = Date.UTC(2026, 6, 22, 14, 0, 0);
const ISSUER = 'https://issuer.test';
const LOCK_TTL_MS = 5_000;
const ADMISSION = { runsInFlightMax: 1_000, runsInFlightPerTenantMax: 1_000, queueLengthMax: 1_000 };

export interface EffectRunsOptions {
  readonly targets: (clock: SeededClock) => readonly EffectTarget[];
  readonly skill?: Partial<SkillContract>;
  readonly policy?: ApprovalPolicy;
  readonly seed?: string;
  /** Another place for the runs, and what time waits for when it is a real server. */
  readonly place?: { readonly open: (clock: SeededClock) => Promise<Store>; readonly quiet: () => Promise<void> };
  readonly onPoint?: (point: WriterPoint, process: MortalProcess) => void | Promise<void>;
}

/** One process of the deployment. */
export interface EffectProcess {
  readonly life: MortalProcess;
  readonly driver: Driver<RunState>;
  readonly writer: EffectWriter;
  readonly desk: ApprovalDesk;
}

export interface EffectRuns extends AsyncDisposable {
  readonly clock: SeededClock;
  /** As it is outside every process. */
  readonly store: Store;
  readonly process: EffectProcess;
  /** Opens a run with one effect step per named draft; resolves when its actions wait for approval. */
  open(drafts: readonly string[]): Promise<RunId>;
  /** Lets the process die, and another one take its runs over. */
  restart(): Promise<EffectProcess>;
  /** Another process beside this one, which holds no runs. */
  beside(): EffectProcess;
  pending(runId: RunId): Promise<readonly ApprovalRow[]>;
  approve(row: ApprovalRow, grant?: RootGrant): Promise<ApprovalRow>;
  state(runId: RunId): Promise<RunState>;
  /** Moves time until the run has ended or stands still, or a minute has passed. */
  settle(runId: RunId): Promise<RunState>;
}

export async function effectRuns(options: EffectRunsOptions): Promise<EffectRuns> {
  const { place } = options;
  const clock = seededClock(START_MS, place === undefined ? {} : { quiet: place.quiet });
  const store = place === undefined ? openSqliteStore({ path: ':memory:', clock }) : await place.open(clock);
  const world: World = {
    options,
    clock,
    store,
    ids: seededIds(options.seed ?? 'e'),
    keys: { issuer: generateSigner(), own: generateSigner() },
    targets: options.targets(clock),
    policy: options.policy ?? createApprovalPolicy('test', []),
  };
  const opened: EffectProcess[] = [];
  const open = (): EffectProcess => {
    const process = openProcess(world);
    opened.push(process);
    return process;
  };
  let current = open();
  let runCount = 0;
  const runs: EffectRuns = {
    clock,
    store,
    get process() {
      return current;
    },
    beside: open,
    async open(drafts) {
      const runId: RunId = `run_${(runCount += 1)}`;
      await current.life.orDeath(receive(world, current, { runId, drafts }));
      if (!current.life.dead) await runs.settle(runId);
      return runId;
    },
    async restart() {
      current.life.die();
      current = open();
      await clock.advance(LOCK_TTL_MS + 1);
      await current.driver.resume('central');
      return current;
    },
    pending: (runId) => store.approvalList({ tenant: 't9', runId, state: 'pending', limit: 100 }),
    approve: (row, grant = APPROVER) => current.desk.decide(grant, approvalOf(row)),
    state: (runId) => durableState(store, runId),
    async settle(runId) {
      for (let turn = 0; turn < 240; turn++) {
        const state = await current.life.orDeath(stateOf(current, runId));
        if (state === undefined) break;
        if (state.phase === 'ended' || state.phase === 'blocked') return state;
        await clock.advance(250);
      }
      return durableState(store, runId);
    },
    async [Symbol.asyncDispose]() {
      for (const process of opened) process.life.die();
      await store[Symbol.asyncDispose]();
    },
  };
  return runs;
}

/** A plain approval of what the row shows. */
export function approvalOf(row: ApprovalRow): Parameters<ApprovalDesk['decide']>[1] {
  return {
    approvalId: row.approvalId,
    digest: row.proposal.actionDigest,
    disposition: 'approved',
    reason: null,
    evidenceInView: undefined,
    channel: 'cli',
  };
}

interface World {
  readonly options: EffectRunsOptions;
  readonly clock: SeededClock;
  readonly store: Store;
  readonly ids: ReturnType<typeof seededIds>;
  readonly keys: {
    readonly issuer: ReturnType<typeof generateSigner>;
    readonly own: ReturnType<typeof generateSigner>;
  };
  readonly targets: readonly EffectTarget[];
  readonly policy: ApprovalPolicy;
}

const STORE_CALLS = [
  'commit',
  'write',
  'head',
  'events',
  'openRuns',
  'jobs',
  'takeLock',
  'takeOpenRuns',
  'heartbeat',
  'artifact',
  'effectByKey',
] as const;

function openProcess(world: World): EffectProcess {
  const { keys, ids, policy, options } = world;
  const life = mortalProcess();
  const clock = life.clock(world.clock);
  const store = life.hold(world.store, STORE_CALLS);
  const driver = createLocalDriver({ store, clock, ids, owner: SUPERVISOR, lockTtlMs: LOCK_TTL_MS });
  const issuer = createEmbeddedIssuer({
    issuer: ISSUER,
    tokenEndpoint: `${ISSUER}/token`,
    signer: keys.issuer,
    clock,
    ids,
    supervisor: { workload: SUPERVISOR, clientId: 'supervisor', signer: keys.own },
    audiences: () => true,
    clients: () => undefined,
    registry: store,
  });
  const guard = createGuard({
    boundary: 'writer',
    audience: WRITER_AUDIENCE,
    issuers: [{ issuer: ISSUER, keys: [keys.issuer.publicJwk] }],
    clock,
    workloads: (jkt) => (jkt === keys.own.thumbprint ? SUPERVISOR : undefined),
  });
  const grants = (subject: string): RootGrant | undefined =>
    subject === INQUIRY_GRANT.sub ? INQUIRY_GRANT : undefined;
  const shared = { driver, store, issuer, clock, ids, grants, workload: SUPERVISOR };
  const targets = world.targets.map((target) => life.hold(target, ['read', 'apply', 'readBack', 'compensate']));
  const onPoint = options.onPoint;
  const writer = createEffectWriter({
    ...shared,
    targets,
    guard,
    policy,
    ...(onPoint === undefined ? {} : { onPoint: (point: WriterPoint) => onPoint(point, life) }),
  });
  const effects = { writer, policy };
  const admission = createAdmissionQueue(ADMISSION, clock);
  store.onCommit((_events, head) => admission.note(head));
  admission.open();
  const unused = { teams: new Map(), directory: noDirectory, planner: noPlanner, admission };
  driver.register('central', createRunHandlers({ ...shared, ...unused, effects }));
  return { life, driver, writer, desk: createApprovalDesk({ ...shared, ...effects }) };
}

const noDirectory = {
  teams: [],
  find: () => Promise.reject(new Error('These runs have no teams.')),
  snapshot: () => Promise.reject(new Error('These runs are planned already.')),
  forget: () => undefined,
};
const noPlanner: Planner = { propose: () => Promise.reject(new Error('These runs are planned already.')) };

/** Received with its goal and given its plan in two commands, so that nothing but effects is left to do. */
async function receive(
  { clock, options }: World,
  { driver }: EffectProcess,
  of: { readonly runId: RunId; readonly drafts: readonly string[] },
): Promise<void> {
  const { runId, drafts } = of;
  const ref = { tenant: 't9', runId };
  const goal = inquiryGoal({
    entities: { notice_draft: [...drafts] },
    requestedOutputs: [{ kind: 'notice_sent', required: true }],
    prohibitedActions: [],
    budget: { ...INQUIRY_KIND.budget, deadlineMs: 86_400_000 },
    claims: [],
  });
  const base = { at: clock.now(), actor: SUPERVISOR };
  const origin = {
    level: 'central',
    requestedBy: INQUIRY_GRANT.sub,
    sessionId: 'ses_1',
    requestDigest: digestOf(runId),
  } as const;
  await driver.deliver(ref, {
    ...base,
    kind: 'receive',
    origin,
    statement: 'Send them.',
    language: 'en',
    intake: { kind: 'goal', goal },
  });
  const skills = INQUIRY_SKILLS.map((skill) =>
    skill.skillId === 'send-notice' ? { ...skill, available: true, ...options.skill } : skill,
  );
  const policy = { ...inquirySnapshot().policy, workloadActions: ['notify:send'] };
  const snapshot = inquirySnapshot({ skills, policy, expiresAt: '2036-01-01T00:00:00.000Z' });
  const plan = planOf(
    goal,
    drafts.length,
    skills.find(({ skillId }) => skillId === 'send-notice')?.approval ?? 'person',
  );
  const proposer = { kind: 'scripted', name: 'effects' } as const;
  const done = await driver.deliver(ref, { ...base, kind: 'propose', plan, proposer, snapshot });
  if (!done.ok) throw new Error(done.error.message);
  if (done.state.accepted === undefined) throw new Error(JSON.stringify(done.state.lastFindings));
}

function planOf(goal: GoalContract, stepCount: number, approval: SkillContract['approval']): Plan {
  const names = Array.from({ length: stepCount }, (_, index) => `e${index + 1}`);
  const [skill] = announcementOf('notification').skills.filter(({ skillId }) => skillId === 'send-notice');
  return {
    contractVersion: '1.0.0',
    planId: 'plan_1',
    version: 1,
    goalId: goal.goalId,
    goalDigest: goalDigest(goal),
    snapshotId: 'cap_1',
    steps: names.map((stepId, index) => ({
      stepId,
      team: 'notification',
      skillId: 'send-notice',
      skillVersion: skill?.version ?? '1.0.0',
      dependsOn: [],
      inputs: { notice_draft: { from: 'goal', pointer: `/entities/notice_draft/${index}` } },
      required: true,
      actions: ['notify:send'],
      budget: { modelTokenCountMax: 0, toolCallCountMax: 2, timeoutMs: 2_000 },
      approval,
    })),
    join: {
      requiredSteps: names,
      optionalSteps: [],
      completionRule: 'all_terminal',
      successRule: 'all_required_completed',
      onOptionalFailure: 'degraded',
      onRequiredNoData: 'no_data',
      onRequiredFailure: 'failed',
      onLateResult: 'record_only',
      onConflict: 'block',
      conflictDecider: 'person',
    },
    budget: goal.budget,
    claims: [],
  };
}

/** As it is in the log, whoever is alive. */
async function durableState(store: Store, runId: RunId): Promise<RunState> {
  const state = foldRun(await store.events({ tenant: 't9', runId }, 0, 10_000));
  if (state === undefined) throw new Error(`no run ${runId}`);
  return state;
}

async function stateOf({ driver }: EffectProcess, runId: RunId): Promise<RunState> {
  const state = await driver.state({ tenant: 't9', runId });
  if (state === undefined) throw new Error(`no run ${runId}`);
  return state;
}
