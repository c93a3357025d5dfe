/** The prohibited send meets one layer after the other: with each switched off, the next refuses by itself, under its own name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunState } from '#kernel/run-state.ts';
import { type Layer, openDefence } from './defence-world.ts';

interface Refusal {
  readonly boundary: string | undefined;
  readonly code: string | undefined;
  /** The rule that refused, as it names itself. */
  readonly guard: unknown;
}

/** What refused: a finding of the plan, or the error of the step. */
function refusalOf(state: RunState): Refusal | undefined {
  const [finding] = state.lastFindings;
  if (finding !== undefined) return { boundary: 'plan validator', code: finding.code, guard: finding.pointer };
  const [error] = state.steps.get('s1')?.result?.errors ?? [];
  if (error === undefined) return undefined;
  const { at, code, detail } = error;
  return { boundary: at, code, guard: detail?.['refusal'] ?? detail?.['code'] ?? detail?.['reason'] };
}

const CASES: readonly {
  readonly off: readonly Layer[];
  readonly refusal: Refusal | undefined;
  readonly result: RunState['result'];
  /** Leases with the prohibited action that were handed out until then: none, the step's, and the tool's. */
  readonly leaseCount: number;
}[] = [
  {
    off: [],
    refusal: { boundary: 'plan validator', code: 'ACTION_PROHIBITED', guard: '/steps/0/skillId' },
    result: 'refused',
    leaseCount: 0,
  },
  {
    off: ['validator'],
    refusal: { boundary: 'issuer', code: 'ERR_LEASE', guard: 'prohibited_action' },
    result: 'failed',
    leaseCount: 0,
  },
  {
    off: ['validator', 'issuer'],
    refusal: { boundary: 'a2a', code: 'ERR_POLICY', guard: 'UNSUPPORTED_OPERATION' },
    result: 'failed',
    leaseCount: 1,
  },
  {
    off: ['validator', 'issuer', 'team'],
    refusal: { boundary: 'mcp', code: 'ERR_LEASE', guard: 'policy' },
    result: 'failed',
    leaseCount: 2,
  },
];

for (const { off, refusal, result, leaseCount } of CASES)
  test(`with ${off.join(', ') || 'nothing'} switched off, the ${refusal?.boundary} refuses the send`, async () => {
    await using world = await openDefence(off);
    const state = await world.run();
    assert.deepEqual(refusalOf(state), refusal);
    assert.equal(state.result, result);
    assert.equal(await world.leaseCount(), leaseCount);
    assert.equal(world.sentCount(), 0);
  });

test('with every layer switched off the notice is sent: nothing else held it up', async () => {
  await using world = await openDefence(['validator', 'issuer', 'team', 'server']);
  const state = await world.run();
  assert.equal(refusalOf(state), undefined);
  assert.equal(state.result, 'completed');
  assert.equal(world.sentCount(), 1);
});
