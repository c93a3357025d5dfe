import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command, RunRef } from '#contracts/command.ts';
import type { RunEvent } from '#contracts/event.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import { trivialDispatch, trivialPropose, trivialReceive } from '#testing/trivial-run.ts';
import { sealEvent } from './chain.ts';
import { decide, type Decision } from './decide.ts';
import { evolveFrom } from './evolve.ts';
import { failure } from './failure.ts';
import type { RunState } from './run-state.ts';

const AT = '2026-07-22T15:00:00.000Z';
const REF: RunRef = { tenant: 't9', runId: 'run_1' };
const ERROR = failure('ERR_MODEL', 'The model did not answer in time.');

function stateAfter(...commands: readonly Command[]): RunState {
  let state: RunState | undefined;
  for (const command of commands) {
    const decision = decide(state, command, REF);
    assert.ok(decision.ok, JSON.stringify(decision));
    for (const draft of decision.events)
      state = evolveFrom(state, sealEvent({ ref: REF, seq: state?.seq ?? 0, hash: state?.hash ?? '' }, draft, command));
  }
  assert.ok(state !== undefined);
  return state;
}

const giveUp = (todo: Extract<Command, { kind: 'giveUp' }>['todo']): Command => ({
  kind: 'giveUp',
  at: AT,
  actor: 'supervisor',
  todo,
  error: ERROR,
});

const bodies = (decision: Decision): readonly unknown[] => {
  assert.ok(decision.ok);
  return decision.events.map(({ kind, body }: Pick<RunEvent, 'kind' | 'body'>) => ({ kind, ...body }));
};

const received = stateAfter(trivialReceive(AT));
const planned = stateAfter(trivialReceive(AT), trivialPropose(AT));

test('a run that nobody can plan ends as failed and says why', () => {
  assert.deepEqual(bodies(decide(received, giveUp({ kind: 'plan', round: 0 }), REF)), [
    { kind: 'run.ended', result: 'failed', needsHuman: false, reason: `No plan could be made: ${ERROR.message}` },
  ]);
});

test('a step that nobody can dispatch is settled as failed, what waits for it is skipped and the join decides', () => {
  const decision = decide(planned, giveUp({ kind: 'dispatch', stepId: 'first', attempt: 1 }), REF);
  const events = bodies(decision) as { readonly kind: string; readonly result?: unknown }[];
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['step.settled', ...Array.from({ length: 5 }, () => 'step.skipped'), 'run.ended'],
  );
  assert.equal(events.at(-1)?.result, 'failed');
});

test('an answer that nobody can compose is refused with the reason and the run ends as failed', () => {
  const awaiting = { ...planned, openStepCount: 0, openRequiredStepCount: 0, ready: new Set<string>() };
  const [template] = [
    {
      key: 'none',
      kind: 'absence',
      absentAction: 'notify:send',
      sentence: { en: 'Nothing was sent.' },
      slots: {},
    } as const,
  ];
  assert.ok(awaiting.goal !== undefined);
  const state: RunState = { ...awaiting, goal: { ...awaiting.goal, claims: [template] } };
  assert.deepEqual(bodies(decide(state, giveUp({ kind: 'compose' }), REF)), [
    { kind: 'answer.refused', error: ERROR },
    { kind: 'run.ended', result: 'failed', needsHuman: false, reason: `No answer could be made: ${ERROR.message}` },
  ]);
});

test('what the run does not need cannot be given up', () => {
  const { command } = trivialDispatch(
    REF,
    { kind: 'dispatch', stepId: 'first', attempt: 1 },
    { at: AT, ids: seededIds(1) },
  );
  const dispatched = stateAfter(trivialReceive(AT), trivialPropose(AT), command);
  for (const [state, todo] of [
    [planned, { kind: 'plan', round: 0 }],
    [received, { kind: 'plan', round: 1 }],
    [received, { kind: 'compose' }],
    [dispatched, { kind: 'dispatch', stepId: 'first', attempt: 1 }],
    [planned, { kind: 'dispatch', stepId: 'last', attempt: 1 }],
    [planned, { kind: 'dispatch', stepId: 'first', attempt: 2 }],
  ] as const) {
    const decision = decide(state, giveUp(todo), REF);
    assert.equal(!decision.ok && decision.error.code, 'ERR_STATE');
  }
});
