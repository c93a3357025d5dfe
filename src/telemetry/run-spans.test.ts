import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '#contracts/event.ts';
import { spanIdOf, traceIdOfRun } from '#kernel/span-identity.ts';
import type { RunHead, Store } from '#ports/store.ts';
import { recordingTelemetry } from '#testing/recording-telemetry.ts';
import { observeRuns } from './run-spans.ts';

const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const ref = { tenant: 't9', runId: 'run_1' } as const;
const at = (second: number): string => `2026-07-23T09:00:0${second}.000Z`;
const origin = {
  level: 'central',
  requestedBy: 'requester@t9',
  sessionId: 'ses_1',
  requestDigest: 'sha256:0',
  traceparent: CALLER,
};
const event = (seq: number, kind: string, body: object): RunEvent =>
  ({ ...ref, seq, kind, body, at: at(seq), actor: 'supervisor' }) as unknown as RunEvent;

const LOG: readonly RunEvent[] = [
  event(1, 'run.received', { origin, statement: 'Why?', language: 'en' }),
  event(2, 'goal.frozen', { goal: { goalId: 'goal_1' } }),
  event(3, 'plan.accepted', {
    plan: { planId: 'plan_1', version: 1, steps: [{ stepId: 's1', team: 'claims', skillId: 'claim-status' }] },
    cards: [{ team: 'claims', workload: 'spiffe://caseops/team/claims' }],
  }),
  event(4, 'step.dispatched', { stepId: 's1', attempt: 1, planVersion: 1, dispatchId: 'dsp_1', leaseId: 'lse_1' }),
  event(5, 'step.started', { stepId: 's1', attempt: 1, dispatchId: 'dsp_1', taskId: 'task-1', contextId: 'ctx-1' }),
  event(6, 'step.settled', {
    dispatchId: 'dsp_1',
    result: { stepId: 's1', status: 'completed', evidence: [{ evidenceId: 'ev_1' }], errors: [] },
    toolCalls: [{ outcome: 'ok', startedAt: at(5), endedAt: at(6) }],
  }),
  event(7, 'run.ended', { result: 'completed', needsHuman: false }),
];

/** A store that only commits, and remembers. */
function committing() {
  let listener: (events: readonly RunEvent[], head: RunHead) => void = () => undefined;
  const written: RunEvent[] = [];
  const store = {
    onCommit: (heard: typeof listener) => {
      listener = heard;
      return () => (listener = () => undefined);
    },
    events: async (_ref: unknown, after: number) => written.filter(({ seq }) => seq > after),
  } as unknown as Store;
  return {
    store,
    commit: (...events: readonly RunEvent[]) => {
      written.push(...events);
      const phase = events.some(({ kind }) => kind === 'run.ended') ? 'ended' : 'running';
      listener(events, { ref, level: 'central', phase } as unknown as RunHead);
    },
    keep: (...events: readonly RunEvent[]) => void written.push(...events),
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a step and its run are told when they are over, under the ids that their own ids give, with the times of the log', () => {
  const telemetry = recordingTelemetry();
  const { store, commit } = committing();
  observeRuns(store, telemetry);
  for (const one of LOG) commit(one);
  const [step, run, ...more] = telemetry.spans;
  assert.deepEqual(more, []);
  const traceId = traceIdOfRun('run_1', origin as never);
  assert.equal(traceId, CALLER.split('-')[1]);
  assert.equal(run?.traceparent, `00-${traceId}-${spanIdOf('run_1')}-01`);
  assert.equal(run?.parent, CALLER);
  assert.equal(step?.traceparent, `00-${traceId}-${spanIdOf('dsp_1')}-01`);
  assert.equal(step?.parent, run?.traceparent);
  assert.deepEqual([step?.startedAtMs, run?.startedAtMs], [Date.parse(at(4)), Date.parse(at(1))]);
  const { goalId, planId, planVersion, stepId, taskId, agentId, evidenceIds } = step?.attributes ?? {};
  assert.deepEqual([goalId, planId, planVersion, stepId, taskId], ['goal_1', 'plan_1', 1, 's1', 'task-1']);
  assert.deepEqual([agentId, evidenceIds], ['spiffe://caseops/team/claims', ['ev_1']]);
  assert.match(telemetry.metrics(), /caseops_runs_total\{level="central",result="completed"\} 1/);
  assert.match(telemetry.metrics(), /caseops_tool_calls_total\{outcome="ok"\} 1/);
});

test('a run that an earlier process began is told with the same ids, once', async () => {
  const telemetry = recordingTelemetry();
  const { store, commit, keep } = committing();
  keep(...LOG.slice(0, 5));
  observeRuns(store, telemetry);
  commit(...LOG.slice(5, 6));
  commit(...LOG.slice(6));
  await settled();
  assert.deepEqual(
    telemetry.spans.map(({ name, traceparent }) => [name, traceparent.split('-')[2]]),
    [
      ['step claim-status', spanIdOf('dsp_1')],
      ['run', spanIdOf('run_1')],
    ],
  );
});

test('an attempt that failed is told by its code, and one that was open at the end as cancelled', () => {
  const telemetry = recordingTelemetry();
  const { store, commit } = committing();
  observeRuns(store, telemetry);
  commit(...LOG.slice(0, 4));
  commit(
    event(5, 'step.attempt_failed', { stepId: 's1', attempt: 1, dispatchId: 'dsp_1', error: { code: 'ERR_DEADLINE' } }),
  );
  commit(
    event(6, 'step.dispatched', { stepId: 's1', attempt: 2, planVersion: 1, dispatchId: 'dsp_2', leaseId: 'lse_2' }),
  );
  commit(event(7, 'run.ended', { result: 'cancelled', needsHuman: false }));
  assert.deepEqual(
    telemetry.spans.map(({ name, error }) => [name, error]),
    [
      ['step claim-status', 'ERR_DEADLINE'],
      ['step claim-status', 'ERR_CANCELLED'],
      ['run', undefined],
    ],
  );
});

test('nothing is told after it is called off', () => {
  const telemetry = recordingTelemetry();
  const { store, commit } = committing();
  const stop = observeRuns(store, telemetry);
  stop();
  commit(...LOG);
  assert.deepEqual(telemetry.spans, []);
});
