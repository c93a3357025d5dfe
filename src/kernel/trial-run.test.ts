/**
 * A run for the kernel's tests: synthetic plans, commands decided, sealed, checked against contracts and invariants, and folded. Every
 * event that any test decides goes through these checks.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '#contracts/answer.ts';
import type { Artifact } from '#contracts/artifact.ts';
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { Command, CommandOf, Intake, Todo } from '#contracts/command.ts';
import { ERROR_CODES, type ErrorCode, type ErrorRecord } from '#contracts/error.ts';
import { EVENT_BODIES, type EventDraft, type EventKind, type RunEvent } from '#contracts/event.ts';
import type { Evidence } from '#contracts/evidence.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { DispatchId, StepId } from '#contracts/ids.ts';
import type { Plan, PlanStep } from '#contracts/plan.ts';
import type { SchemaDocument, SkillContract } from '#contracts/skill.ts';
import type { StepStatus } from '#contracts/step-result.ts';
import { sealEvent } from './chain.ts';
import { decide, type Decision } from './decide.ts';
import { digestOf } from './digest.ts';
import { evolve, foldRun, openRun } from './evolve.ts';
import { goalDigest } from './goal-digest.ts';
import { checkInvariants } from './invariants.ts';
import { next } from './next.ts';
import type { RunState, StepState } from './run-state.ts';
import { timestampOf } from './time.ts';

export const START_MS = Date.parse('2026-07-22T15:00:00.000Z');
export const REF = { tenant: 't9', runId: 'run_1' } as const;
export const WORKLOAD = 'spiffe://caseops.test/team/claims';

/** The time `ms` after the run was received. */
export function atMs(ms: number): string {
  return timestampOf(START_MS + ms);
}

function document(schemaId: string, schema: SchemaDocument['schema']): SchemaDocument {
  return { schemaId, schemaVersion: '1.0.0', digest: digestOf(schema), schema };
}

/** The one skill of these runs: it delivers `{ value }`. */
export function skillOf(over: Partial<SkillContract> = {}): SkillContract {
  const value = {
    type: 'object',
    properties: { value: { type: 'string' } },
    required: ['value'],
    additionalProperties: false,
  };
  return {
    skillId: 'claim-status',
    version: '1.0.0',
    team: 'claims',
    description: 'Reads a claim.',
    input: document('claim-status.input', { type: 'object' }),
    artifact: document('claim-status.artifact', value),
    requires: [],
    produces: [{ kind: 'value', pointer: '/value' }],
    acceptedResults: [],
    risk: 'read_only',
    actions: ['claims:read'],
    effectActions: [],
    resources: [],
    datatypes: [],
    purposes: ['claim_investigation'],
    toolContracts: [],
    evidence: { anchorTypes: ['claim'], countMin: 1 },
    acceptanceCriteria: [],
    stateFields: [],
    approval: 'none',
    sideEffect: 'none',
    available: true,
    timeoutMs: 2_000,
    minimumRuntimeMs: 100,
    latencySloMs: 500,
    retry: { attemptCountMax: 2, backoffMs: 10 },
    stepBudget: { modelTokenCountMax: 0, toolCallCountMax: 1, timeoutMs: 2_000 },
    taskSupport: 'forbidden',
    whichArtifact: 'only',
    ...over,
  };
}

export const BUDGET: Plan['budget'] = {
  stepCountMax: 16,
  modelTokenCountMax: 1_000,
  toolCallCountMax: 32,
  concurrencyMax: 8,
  deadlineMs: 9_000,
  replanCountMax: 2,
};

export function goalOf(over: Partial<GoalContract> = {}): GoalContract {
  return {
    contractVersion: '1.0.0',
    goalId: 'goal_1',
    revision: 1,
    tenant: 't9',
    requestedBy: 'requester@t9',
    sessionId: 'ses_1',
    kind: 'claim_investigation',
    kindVersion: '1.0.0',
    purpose: 'claim_investigation',
    subject: { type: 'claim', ids: ['C-102'] },
    entities: { claim_id: 'C-102', claim_ids: ['C-102', 'C-103'] },
    requestedOutputs: [{ kind: 'value', required: true }],
    prohibitedActions: [],
    constraints: [],
    evidencePolicy: { factsNeedEvidence: true, observationAgeMsMax: 60_000 },
    claims: [],
    budget: BUDGET,
    statement: { text: 'Why is C-102 not completed?', language: 'en' },
    ...over,
  };
}

/** A step by name: `s1?` is optional; `after` names dependencies, `~s1` weakly. */
export function stepOf(name: string, after: readonly string[] = [], over: Partial<PlanStep> = {}): PlanStep {
  const optional = name.endsWith('?');
  return {
    stepId: optional ? name.slice(0, -1) : name,
    team: 'claims',
    skillId: 'claim-status',
    skillVersion: '1.0.0',
    dependsOn: after.map((on) =>
      on.startsWith('~') ? { stepId: on.slice(1), strength: 'weak' } : { stepId: on, strength: 'strong' },
    ),
    inputs: { claim_id: { from: 'goal', pointer: '/entities/claim_id' } },
    required: !optional,
    actions: ['claims:read'],
    budget: { modelTokenCountMax: 10, toolCallCountMax: 1, timeoutMs: 2_000 },
    approval: 'none',
    ...over,
  };
}

export interface Setup {
  readonly steps: readonly PlanStep[];
  readonly goal?: Partial<GoalContract>;
  readonly skills?: readonly SkillContract[];
  readonly join?: Partial<Plan['join']>;
  readonly budget?: Partial<Plan['budget']>;
}

export function planOf(setup: Setup): Plan {
  const goal = goalOf(setup.goal);
  return {
    contractVersion: '1.0.0',
    planId: 'plan_1',
    version: 1,
    goalId: goal.goalId,
    goalDigest: goalDigest(goal),
    snapshotId: 'cap_1',
    steps: [...setup.steps],
    join: {
      requiredSteps: setup.steps.filter(({ required }) => required).map(({ stepId }) => stepId),
      optionalSteps: setup.steps.filter(({ required }) => !required).map(({ stepId }) => stepId),
      completionRule: 'all_terminal',
      successRule: 'all_required_completed',
      onOptionalFailure: 'degraded',
      onRequiredNoData: 'no_data',
      onRequiredFailure: 'failed',
      onLateResult: 'record_only',
      onConflict: 'block',
      conflictDecider: 'person',
      ...setup.join,
    },
    budget: { ...BUDGET, ...setup.budget },
    claims: [],
  };
}

export function snapshotOf(setup: Setup): CapabilitySnapshot {
  return {
    snapshotId: 'cap_1',
    tenant: 't9',
    takenAt: atMs(0),
    expiresAt: atMs(60_000),
    cards: [
      {
        team: 'claims',
        cardName: 'claims',
        cardVersion: '1.0.0',
        protocolVersion: '1.0',
        verifiedBy: 'k'.repeat(43),
        cardDigest: digestOf('claims'),
        interfaces: [{ url: 'http://127.0.0.1:9000/claims', binding: 'HTTP+JSON' }],
        audience: 'http://127.0.0.1:9000/claims',
        toolAudiences: {},
        workload: WORKLOAD,
      },
    ],
    skills: [...(setup.skills ?? [skillOf()])],
    teamPolicyDigests: { claims: digestOf('policy') },
    policy: {
      digest: digestOf('central'),
      tenants: ['t9'],
      purposes: ['claim_investigation'],
      userActions: ['claims:read'],
      workloadActions: ['claims:read'],
    },
    unavailable: [],
  };
}

type Body<K extends Command['kind']> = Omit<CommandOf<K>, 'kind' | 'at' | 'actor'>;

/** A run that is decided and folded command by command, with its log. */
export class TrialRun {
  readonly log: RunEvent[] = [];
  nowMs = 0;
  #state: RunState | undefined;

  get state(): RunState {
    assert.ok(this.#state !== undefined, 'the run was received');
    return this.#state;
  }

  step(stepId: StepId): StepState {
    const step = this.state.steps.get(stepId);
    assert.ok(step !== undefined, `the plan has step ${stepId}`);
    return step;
  }

  kinds(from = 0): readonly EventKind[] {
    return this.log.slice(from).map(({ kind }) => kind);
  }

  todos(): readonly Todo[] {
    return next(this.state, atMs(this.nowMs));
  }

  /** Appends events as they are; what a decider would not say can be said so. */
  append(...drafts: readonly EventDraft[]): void {
    for (const draft of drafts) this.#append(this.seal(draft));
  }

  /** Seals the event that would come next. */
  seal(draft: EventDraft): RunEvent {
    const { seq, hash } = this.#state ?? { seq: 0, hash: '' as const };
    return sealEvent({ ref: REF, seq, hash }, draft, { at: atMs(this.nowMs), actor: 'tester' });
  }

  /** Decides a command, checks each event against its contract and the invariants, and folds it. */
  decide<K extends Command['kind']>(kind: K, body: Body<K>): Decision {
    const command = { kind, at: atMs(this.nowMs), actor: 'tester', ...body } as unknown as Command;
    const decision = decide(this.#state, command, REF);
    if (!decision.ok) return decision;
    for (const draft of decision.events) {
      const parsed = EVENT_BODIES[draft.kind].safeParse(draft.body);
      assert.ok(parsed.success, `${draft.kind} fits its contract: ${parsed.error?.message}`);
      const event = this.seal(draft);
      if (this.#state !== undefined) assert.deepEqual(checkInvariants(this.#state, event), []);
      this.#append(event);
    }
    return decision;
  }

  /** Decides a command that must not be refused; returns the kinds of its events. */
  ok<K extends Command['kind']>(kind: K, body: Body<K>): readonly EventKind[] {
    const decision = this.decide(kind, body);
    assert.ok(decision.ok, decision.ok ? '' : decision.error.message);
    return decision.events.map((event) => event.kind);
  }

  /** Decides a command that must be refused, without any event; returns the error. */
  refusal<K extends Command['kind']>(kind: K, body: Body<K>): ErrorRecord {
    const before = this.log.length;
    const decision = this.decide(kind, body);
    assert.ok(!decision.ok, `${kind} is refused`);
    assert.equal(this.log.length, before);
    return decision.error;
  }

  receive(intake: Intake): readonly EventKind[] {
    return this.ok('receive', { origin: ORIGIN, statement: 'Why?', language: 'en', intake });
  }

  dispatchBody(stepId: StepId, over: Partial<Body<'dispatch'>> = {}): Body<'dispatch'> {
    const attempt = (this.#state?.steps.get(stepId)?.attempts.length ?? 0) + 1;
    return {
      stepId,
      planVersion: 1,
      attempt,
      dispatchId: dispatchIdOf(stepId, attempt),
      leaseId: `lse_${stepId}-${attempt}`,
      audience: 'http://127.0.0.1:9000/claims',
      deadlineAt: atMs(this.nowMs + 60_000),
      ...over,
    };
  }

  dispatch(...stepIds: readonly StepId[]): void {
    for (const stepId of stepIds) this.ok('dispatch', this.dispatchBody(stepId));
  }

  start(stepId: StepId, attempt = 1): readonly EventKind[] {
    return this.ok('start', startBody(stepId, attempt));
  }

  deliver(stepId: StepId, made: Made = {}): readonly EventKind[] {
    return this.ok('deliver', deliverBody(stepId, made));
  }

  fail(stepId: StepId, code: ErrorCode = 'ERR_TEAM_FAILED', attempt = 1): readonly EventKind[] {
    return this.ok('fail', failBody(stepId, code, attempt));
  }

  tick(atTime: number): readonly EventKind[] {
    this.nowMs = atTime;
    return this.ok('tick', {});
  }

  /** The live state equals the fold of the log, whose chain holds. */
  assertFold(): void {
    assert.deepEqual(foldRun(this.log), this.state);
  }

  #append(event: RunEvent): void {
    if (this.#state !== undefined) evolve(this.#state, event);
    else {
      assert.ok(event.kind === 'run.received');
      this.#state = openRun(event);
    }
    this.log.push(event);
  }
}

const ORIGIN: CommandOf<'receive'>['origin'] = {
  level: 'central',
  requestedBy: 'requester@t9',
  sessionId: 'ses_1',
  requestDigest: digestOf('request'),
};

/** A run whose plan is in force, without asking the validator. */
export function plannedTrial(setup: Setup): TrialRun {
  const trial = new TrialRun();
  trial.receive({ kind: 'goal', goal: goalOf(setup.goal) });
  trial.append({ kind: 'plan.accepted', body: acceptedBody(setup) });
  return trial;
}

export function acceptedBody(setup: Setup): Extract<EventDraft, { kind: 'plan.accepted' }>['body'] {
  const plan = planOf(setup);
  const { skills, cards, teamPolicyDigests } = snapshotOf(setup);
  return {
    planId: plan.planId,
    plan,
    planDigest: digestOf(plan),
    snapshotId: plan.snapshotId,
    skills,
    cards,
    teamPolicyDigests,
  };
}

export function dispatchIdOf(stepId: StepId, attempt: number): DispatchId {
  return `dsp_${stepId}-${attempt}`;
}

export function startBody(stepId: StepId, attempt = 1): Body<'start'> {
  const dispatchId = dispatchIdOf(stepId, attempt);
  return { stepId, planVersion: 1, attempt, dispatchId, taskId: `task-${stepId}-${attempt}`, contextId: 'ctx' };
}

export function failBody(stepId: StepId, code: ErrorCode, attempt = 1): Body<'fail'> {
  const kind = ERROR_CODES[code];
  const error = { code, kind, message: `Failed with ${code}.`, at: 'a2a', retryable: kind === 'unavailable' };
  const usage = { toolCallCount: 0, modelTokenCount: 0, durationMs: 5 };
  return { stepId, planVersion: 1, attempt, dispatchId: dispatchIdOf(stepId, attempt), error, usage };
}

/** What a step delivers. */
export interface Made {
  readonly status?: StepStatus;
  readonly value?: string;
  readonly attempt?: number;
  readonly toolCallCount?: number;
  readonly change?: (artifact: Artifact) => void;
}

export function evidenceOf(stepId: StepId, value: string): Evidence {
  return {
    evidenceId: `ev_${stepId}-${value}`,
    source: 'claims-db',
    anchor: `claim:${stepId}`,
    version: 'v17',
    observedAt: atMs(0),
    digest: digestOf({ value }),
    trust: 'authoritative',
    readers: ['internal'],
  };
}

export function artifactOf(stepId: StepId, made: Made = {}): Artifact {
  const { status = 'completed', value = 'pending', attempt = 1 } = made;
  const evidence = evidenceOf(stepId, value);
  const observed = status === 'completed' || status === 'partial' || status === 'degraded';
  const open: Omit<Artifact, 'contentDigest'> = {
    contractVersion: '1.0.0',
    artifactId: `art_${stepId}-${value}`,
    binding: {
      dispatchId: dispatchIdOf(stepId, attempt),
      stepId,
      planVersion: 1,
      attempt,
      taskId: `task-${stepId}-${attempt}`,
      contextId: 'ctx',
      leaseId: `lse_${stepId}-${attempt}`,
    },
    producer: { team: 'claims', workload: WORKLOAD, worker: 'reader' },
    skillId: 'claim-status',
    skillVersion: '1.0.0',
    schemaId: 'claim-status.artifact',
    schemaVersion: '1.0.0',
    status,
    ...(observed ? { data: { value } } : {}),
    evidence: [evidence],
    records: { [evidence.evidenceId]: { value } },
    toolCalls: [],
    missing: observed && status !== 'partial' ? [] : ['something'],
    errors: [],
    producedAt: atMs(0),
  };
  const artifact: Artifact = { ...open, contentDigest: digestOf(open) };
  made.change?.(artifact);
  return artifact;
}

export function deliverBody(stepId: StepId, made: Made = {}): Body<'deliver'> {
  const { attempt = 1, toolCallCount = 1 } = made;
  const artifact = artifactOf(stepId, made);
  return {
    stepId,
    planVersion: 1,
    attempt,
    dispatchId: dispatchIdOf(stepId, attempt),
    artifact,
    artifactRef: digestOf(artifact),
    sizeBytes: 100,
    usage: { toolCallCount, modelTokenCount: 0, durationMs: 5 },
  };
}

export function answerOf(over: Partial<Answer> = {}): Answer {
  return {
    contractVersion: '1.0.0',
    language: 'en',
    result: 'completed',
    needsHuman: false,
    claims: [],
    unsaid: [],
    missingSteps: [],
    evidence: [],
    ...over,
  };
}

test('a trial run completes: dispatched, started, delivered, ended', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  trial.dispatch('s1');
  trial.start('s1');
  trial.deliver('s1');
  assert.equal(trial.state.result, 'completed');
  trial.assertFold();
});
