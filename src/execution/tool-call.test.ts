import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf } from '#kernel/digest.ts';
import { getClaim, listNotes, reading, setStatus } from '#testing/claim-desk.ts';
import type { FakeToolHostOptions } from '#testing/fake-tool-host.ts';
import { errorOf, outcomeOf, workerWorld } from '#testing/worker-world.ts';

test('two tools of one server share one exchange, and its lease has as many uses as calls are planned', async () => {
  const { running, authority } = await workerWorld({
    notes: [{ id: 'N-1', version: 'v1', tenant: 't9', observedAt: '2026-07-01T00:00:00Z', data: { text: 'Called.' } }],
    run: async (input, context) => {
      const [, result] = await Promise.all([
        context.call(listNotes, { claim_id: input.claim_id }),
        reading(input, context),
      ]);
      return result;
    },
  });
  assert.equal(errorOf(await running), 'an artifact with status completed');
  assert.deepEqual(
    authority.exchanged.map(({ use, audience }) => [use, audience]),
    [['count:3', 'mcp:claims-db']],
  );
});

test('under a lease that is used once, each call is exchanged for on its own and never for more', async () => {
  const { running, authority } = await workerWorld({ use: 'single' });
  assert.equal(errorOf(await running), 'an artifact with status completed');
  assert.deepEqual(
    authority.exchanged.map(({ use }) => use),
    ['single'],
  );
});

test('a tool that writes is called under a lease of its own, used once', async () => {
  const { running, authority } = await workerWorld({
    run: async (input, context) => {
      await context.call(setStatus, input);
      return reading(input, context);
    },
  });
  assert.equal(errorOf(await running), 'an artifact with status completed');
  assert.deepEqual(
    authority.exchanged.map(({ use, detail }) => [use, detail.actions]),
    [
      ['single', ['claims:write']],
      ['count:2', ['claims:read']],
    ],
  );
});

test('a call beyond the budget is not made', async () => {
  const { running, toolHost } = await workerWorld({
    dispatch: { budget: { modelTokenCountMax: 0, toolCallCountMax: 1, timeoutMs: 3_000 } },
    run: async (input, context) => {
      await context.call(getClaim, input);
      return reading(input, context);
    },
  });
  const outcome = await running;
  assert.equal(errorOf(outcome), 'ERR_BUDGET');
  assert.equal(toolHost.calls.length, 1);
  assert.equal(outcome.usage.toolCallCount, 1);
});

test('a tool with an action that the goal prohibits is not called, and no lease is asked for', async () => {
  const { running, toolHost, authority } = await workerWorld({
    dispatch: { forbiddenActions: ['claims:write'] },
    run: async (input, context) => {
      await context.call(setStatus, input);
      return reading(input, context);
    },
  });
  assert.equal(errorOf(await running), 'ERR_POLICY');
  assert.deepEqual([toolHost.calls.length, authority.exchanged.length], [0, 0]);
});

test('a resource that the dispatch does not name is refused before any call', async () => {
  const { running, toolHost } = await workerWorld({
    run: (_input, context) => reading({ claim_id: 'C-201' }, context),
  });
  assert.equal(errorOf(await running), 'ERR_POLICY');
  assert.equal(toolHost.calls.length, 0);
});

test('a tool that the skill does not name is refused', async () => {
  const foreign = { ...getClaim, contract: { ...getClaim.contract, digest: digestOf('another') } };
  const outcome = await outcomeOf({
    run: async (input, context) => {
      await context.call(foreign, input);
      return reading(input, context);
    },
  });
  assert.equal(errorOf(outcome), 'ERR_POLICY');
});

const failures: readonly (readonly [
  FakeOutcome: Awaited<ReturnType<NonNullable<FakeToolHostOptions['fault']>>>,
  code: string,
  callCount: number,
])[] = [
  [{ outcome: 'tool_error', code: 'NO_SUCH_TABLE', message: 'secret' }, 'ERR_TOOL_FAILED', 1],
  [{ outcome: 'tool_error', code: 'ERR_STORE', message: 'secret' }, 'ERR_TOOL_FAILED', 2],
  [
    { outcome: 'contract_violation', code: 'ERR_TOOL_CONTRACT_DRIFT', message: 'It drifted.' },
    'ERR_TOOL_CONTRACT_DRIFT',
    1,
  ],
  [{ outcome: 'throttled', retryAfterMs: 60_000 }, 'ERR_TOOL_THROTTLED', 1],
  [{ outcome: 'cancelled', reason: 'lease_revoked' }, 'ERR_LEASE', 1],
  [{ outcome: 'cancelled', reason: 'deadline' }, 'ERR_DEADLINE', 1],
  [{ outcome: 'refused', code: 'expired', boundary: 'mcp', message: 'secret' }, 'ERR_LEASE', 1],
  [{ outcome: 'unknown_outcome', message: 'secret' }, 'ERR_TOOL_UNKNOWN_OUTCOME', 2],
];
for (const [fault, code, callCount] of failures)
  test(`the outcome ${fault?.outcome} is ${code} after ${callCount} calls of a read`, async () => {
    const { running, toolHost } = await workerWorld({ fault: () => fault });
    const outcome = await running;
    assert.equal(errorOf(outcome), code);
    assert.equal(toolHost.calls.length, callCount);
    assert.deepEqual(
      outcome.toolCalls.map((call) => call.outcome),
      Array.from({ length: callCount }, () => fault?.outcome),
    );
    assert(!outcome.ok);
    assert.doesNotMatch(outcome.error.message, /secret/u);
  });

test('a read whose connection died is read again, a write never', async () => {
  const dead = { outcome: 'unknown_outcome', message: 'gone' } as const;
  const read = await workerWorld({ fault: (_call, index) => (index === 0 ? dead : undefined) });
  assert.equal(errorOf(await read.running), 'an artifact with status completed');
  const write = await workerWorld({
    fault: () => dead,
    run: async (input, context) => {
      await context.call(setStatus, input);
      return reading(input, context);
    },
  });
  assert.equal(errorOf(await write.running), 'ERR_TOOL_UNKNOWN_OUTCOME');
  assert.equal(write.toolHost.calls.length, 1);
});

test('a throttled read waits as long as it is told, within the deadline', async () => {
  const { running, clock, toolHost } = await workerWorld({
    fault: (_call, index) => (index === 0 ? { outcome: 'throttled', retryAfterMs: 500 } : undefined),
  });
  await clock.advance(499);
  assert.equal(toolHost.calls.length, 1);
  await clock.advance(1);
  assert.equal(errorOf(await running), 'an artifact with status completed');
});
