import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToolContract } from '#contracts/tool-contract.ts';
import type { ToolHost, ToolOutcome } from '#ports/tool-host.ts';
import { claimDesk } from '#testing/claim-desk.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { withCallLimits } from './call-limits.ts';

const lease = { token: '', leaseId: 'lse_1', audience: '', expiresAt: 0, prove: () => '' };
const [contract] = claimDesk().team.mcpServers.flatMap(({ tools }) => tools.map((tool) => tool.contract));
assert.ok(contract);
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Calls that end when a test says so. */
function slowHost() {
  const open: (() => void)[] = [];
  const seen: AbortSignal[] = [];
  const host: ToolHost = {
    audience: (server) => server,
    verify: async () => undefined,
    call: (_contract: ToolContract, _args, _lease, signal) => {
      seen.push(signal);
      const facts = { protocolRevision: '', serverVersion: '', startedAt: '', endedAt: '' };
      if (signal.aborted) return Promise.resolve({ outcome: 'cancelled', reason: 'aborted', ...facts });
      return new Promise<ToolOutcome>((resolve) => {
        open.push(() => resolve({ outcome: 'unknown_outcome', message: '', ...facts }));
      });
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
  return { host, open, seen };
}

test('calls over the limit of their server wait in turn, and other servers do not', async () => {
  const slow = slowHost();
  const limited = withCallLimits(slow.host, { [contract.server]: 2 }, seededClock(0));
  const call = (server = contract.server) =>
    limited.call({ ...contract, server }, {}, lease, new AbortController().signal);
  const calls = [call(), call(), call(), call()];
  await turn();
  assert.equal(slow.seen.length, 2);
  const free = call('elsewhere');
  assert.equal(slow.seen.length, 3);
  slow.open[0]?.();
  await calls[0];
  await turn();
  assert.equal(slow.seen.length, 4);
  for (let index = 1; index < 5; index++) {
    slow.open[index]?.();
    await turn();
  }
  await Promise.all([...calls, free]);
  assert.equal(slow.seen.length, 5);
});

test('a call that is aborted while it waits ends at once as cancelled, and takes no place', async () => {
  const slow = slowHost();
  const limited = withCallLimits(slow.host, { [contract.server]: 1 }, seededClock(0));
  const stop = new AbortController();
  const first = limited.call(contract, {}, lease, new AbortController().signal);
  const second = limited.call(contract, {}, lease, stop.signal);
  const third = limited.call(contract, {}, lease, new AbortController().signal);
  await turn();
  stop.abort();
  assert.equal((await second).outcome, 'cancelled');
  assert.equal(slow.open.length, 1);
  slow.open[0]?.();
  await first;
  await turn();
  assert.equal(slow.open.length, 2);
  slow.open[1]?.();
  await third;
});

test('a full queue is throttled instead of growing', async () => {
  const slow = slowHost();
  const limited = withCallLimits(slow.host, { [contract.server]: 1 }, seededClock(0));
  const stop = new AbortController();
  const calls = Array.from({ length: 1_001 }, () => limited.call(contract, {}, lease, stop.signal));
  const over = await limited.call(contract, {}, lease, stop.signal);
  assert.deepEqual(over.outcome === 'throttled' && over.retryAfterMs, 1_000);
  stop.abort();
  slow.open[0]?.();
  await Promise.all(calls);
});
