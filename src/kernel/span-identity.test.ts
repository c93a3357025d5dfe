import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from '#contracts/event.ts';
import { parseTraceparent, spanIdOf, traceIdOfRun, traceparentOf, traceparentOfRun } from './span-identity.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const central = {
  level: 'central',
  requestedBy: 'requester@t9',
  sessionId: 'ses_1',
  requestDigest: `sha256:${'0'.repeat(64)}`,
} as const satisfies Origin;
const governed = { level: 'governed' } as unknown as Origin;

test('a traceparent is read and written back, with its wish not to be recorded', () => {
  for (const flags of ['00', '01']) {
    const text = `00-${TRACE}-${SPAN}-${flags}`;
    const read = parseTraceparent(text);
    assert.deepEqual(read, { traceId: TRACE, spanId: SPAN, sampled: flags === '01' });
    assert.equal(read && traceparentOf(read), text);
  }
});

test('what is not a traceparent of version 00 is none', () => {
  const zeros = [`00-${'0'.repeat(32)}-${SPAN}-01`, `00-${TRACE}-${'0'.repeat(16)}-01`];
  for (const text of [
    undefined,
    '',
    'x',
    `01-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
    TRACE.toUpperCase(),
    ...zeros,
  ])
    assert.equal(parseTraceparent(text), undefined, String(text));
});

test('a run that a span asked for is in that trace; another has a trace of its own that its id tells', () => {
  const asked = { ...central, traceparent: `00-${TRACE}-${SPAN}-00` };
  assert.equal(traceIdOfRun('run_1', asked), TRACE);
  assert.equal(traceparentOfRun('run_1', asked), `00-${TRACE}-${spanIdOf('run_1')}-00`);
  assert.notEqual(traceIdOfRun('run_1', central), traceIdOfRun('run_2', central));
  assert.equal(traceIdOfRun('run_1', central), traceIdOfRun('run_1', governed));
  assert.equal(traceIdOfRun('run_1', central), traceIdOfRun('run_1', undefined), 'of a run whose origin was erased');
  assert.ok(parseTraceparent(traceparentOfRun('run_1', central))?.sampled);
});

test('an attempt has the span that its dispatch id tells, in the trace of its run', () => {
  const step = parseTraceparent(traceparentOfRun('run_1', central, 'dsp_1'));
  assert.equal(step?.spanId, spanIdOf('dsp_1'));
  assert.equal(step?.traceId, traceIdOfRun('run_1', central));
  assert.notEqual(spanIdOf('dsp_1'), spanIdOf('dsp_2'));
});
