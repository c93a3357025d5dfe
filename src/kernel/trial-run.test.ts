/**
 * A run for the kernel's tests: synthetic plans, commands decided, sealed, checked against contracts and invariants, and folded. Every
 * event that any test decides goes through these checks.
 */
import assert from 'node:assert/strict';
import type { Command, CommandOf, Opening, Queued, Todo } from '#contracts/command.ts';
import type { ErrorCode, ErrorRecord } from '#contracts/error.ts';
import { EVENT_BODIES, type EventDraft, type EventKind, type RunEvent } from '#contracts/event.ts';
import type { StepId } from '#contracts/ids.ts';
import { sealEvent, verifyChain } from './chain.ts';
import { decide, type Decision } from './decide.ts';
import { digestOf } from './digest.ts';
import { evolve, foldRun, openRun } from './evolve.ts';
import { checkInvariants } from './invariants.ts';
import { next } from './next.ts';
import type { RunState, StepState } from './run-state.ts';
import {
  atMs,
  type Body,
  deliverBody,
  dispatchIdOf,
  failBody,
  goalOf,
  type Made,
  planOf,
  REF,
  type Setup,
  snapshotOf,
  startBody,
} from './trial-contracts.test.ts';

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

  /** Decides a command of somebody else that must not be refused. */
  decideAs<K extends Command['kind']>(actor: string, kind: K, body: Body<K>): readonly EventKind[] {
    return this.ok(kind, { ...body, actor });
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

  receive(intake: Opening, queue?: Queued): readonly EventKind[] {
    const body = { origin: ORIGIN, statement: 'Why?', language: 'en', intake };
    return this.ok('receive', queue === undefined ? body : { ...body, queue });
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
    assert.equal(verifyChain({ ref: REF, seq: 0, hash: '' }, this.log).ok, true);
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
