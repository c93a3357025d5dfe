/** How a trace crosses A2A: continued by default, begun anew with a link where the team is of another house, never before the guard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingTelemetry } from '../../src/testing/recording-telemetry.ts';
import { a2aWorld } from './a2a-world.ts';

const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const never = new AbortController().signal;

async function sent(traces: 'continue' | 'new', traceparent = CALLER) {
  const telemetry = recordingTelemetry();
  await using world = await a2aWorld({ binding: 'HTTP+JSON', telemetry, traces });
  const dispatch = world.dispatch();
  const lease = await world.work(dispatch);
  let taskId = '';
  for await (const update of world.transport.send(dispatch, { ...lease, traceparent }, never))
    if (update.kind === 'started') taskId = update.taskId;
  const [received] = await world.store.events({ tenant: 't9', runId: taskId as 'run_1' }, 0, 1);
  const origin = received?.kind === 'run.received' ? received.body.origin : undefined;
  return {
    span: telemetry.spans.find(({ name }) => name === 'a2a send'),
    kept: origin?.level === 'team' ? origin.traceparent : undefined,
    called: world.toolHost.calls[0]?.lease.traceparent,
    dispatch,
  };
}

test('a team continues the trace of its caller, and its run and its tool calls are in it', async () => {
  const { span, kept, called, dispatch } = await sent('continue');
  assert.equal(span?.parent, CALLER);
  assert.deepEqual(span?.links, []);
  assert.equal(kept, span?.traceparent);
  assert.equal(called?.split('-')[1], CALLER.split('-')[1]);
  assert.equal(span?.attributes['dispatchId'], dispatch.dispatchId);
});

test('a team of another house begins a trace of its own, which links to its caller', async () => {
  const { span, kept, called } = await sent('new');
  assert.equal(span?.parent, undefined);
  assert.deepEqual(span?.links, [CALLER]);
  assert.notEqual(kept?.split('-')[1], CALLER.split('-')[1]);
  assert.equal(called?.split('-')[1], kept?.split('-')[1]);
});

test('a header that is no trace context is kept nowhere, and the dispatch is served', async () => {
  const { kept, called } = await sent('continue', 'not-a-trace');
  assert.notEqual(kept, 'not-a-trace');
  assert.match(called ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
});

test('whoever has no lease leaves no span, whatever trace it names', async () => {
  const telemetry = recordingTelemetry();
  await using world = await a2aWorld({ binding: 'HTTP+JSON', telemetry });
  const headers = { traceparent: CALLER, 'content-type': 'application/json' };
  const refused = await fetch(`${world.audience}/message:stream`, { method: 'POST', headers, body: '{}' });
  assert.equal(refused.status, 401);
  assert.deepEqual(telemetry.spans, []);
});
