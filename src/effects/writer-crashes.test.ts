/**
 * The writer against everything that can happen: a crash at every await, and random interleavings of decisions, repetitions, faults and
 * crashes. The owner knows no keys here, so that a second send would be a second effect. INV-04, INV-12, INV-13.
 */
import type { ApprovalId, RunId } from '#contracts/ids.ts';
import { evolve, openRun } from '#kernel/evolve.ts';
import { checkInvariants } from '#kernel/invariants.ts';
import { approvalOf, type EffectRuns, effectRuns } from '#testing/effect-runs.ts';
import { INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import { type ApplyFault, createMemoryTarget, type MemoryTarget } from '#testing/memory-effect-target.ts';
import { APPROVER, SECOND_APPROVER } from '#testing/notice-case.ts';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';

interface World extends AsyncDisposable {
  readonly runs: EffectRuns;
  readonly target: MemoryTarget;
  readonly opened: RunId[];
}

async function world(): Promise<World> {
  let target: MemoryTarget | undefined;
  const keyed = ({ resource }: { readonly resource: string }): string => `send:${resource}`;
  const runs = await effectRuns({
    targets: (clock) => {
      target = createMemoryTarget({ clock, dedupes: false, keyed });
      return [target];
    },
  });
  assert.ok(target !== undefined);
  return { runs, target, opened: [], [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose]() };
}

const signal = new AbortController().signal;

/** Asks the owner about everything in doubt, in fresh processes, until nothing is open. */
async function clearUp({ runs, target, opened }: World): Promise<void> {
  target.faults.length = 0;
  target.hiddenReadBackCount = 0;
  for (let round = 0; round < 8; round++) {
    const { desk } = await runs.restart();
    for (const runId of opened) await runs.settle(runId);
    const rows = await runs.store.effectList({ tenant: 't9', limit: 100 });
    const open = rows.filter(({ state }) => state === 'unknown' || state === 'in_progress');
    if (open.length === 0) return;
    for (const { effectId } of open)
      await desk.reconcile(APPROVER, { effectId, finding: undefined, reason: null }, signal).catch(() => undefined);
  }
}

/** At most one effect a key, each under a granted approval, and the ledger says what the owner has. */
async function assertSingle({ runs, target, opened }: World): Promise<void> {
  const granted = new Map<ApprovalId, number>();
  for (const runId of opened) {
    const [first, ...rest] = await runs.store.events({ tenant: 't9', runId }, 0, 10_000);
    assert.ok(first?.kind === 'run.received');
    const state = openRun(first);
    for (const event of rest) {
      assert.deepEqual(checkInvariants(state, event), []);
      evolve(state, event);
      if (event.kind === 'approval.granted') granted.set(event.body.approvalId, event.seq);
      if (event.kind === 'effect.intended') assert.ok((granted.get(event.body.approvalId) ?? Infinity) < event.seq);
    }
  }
  const rows = await runs.store.effectList({ tenant: 't9', limit: 100 });
  assert.deepEqual(
    rows.filter(({ state }) => state === 'unknown' || state === 'in_progress'),
    [],
  );
  for (const row of rows) {
    const applied = target.appliedCount(row.idempotencyKey);
    assert.ok(applied <= 1, `${row.idempotencyKey} was applied ${applied} times`);
    assert.equal(applied === 1, row.state === 'completed', `${row.idempotencyKey} is ${row.state}`);
  }
  assert.equal(target.appliedCount(), rows.filter(({ state }) => state === 'completed').length);
}

/** Approved and settled, with a crash at the nth call to the outside; false when the run needed fewer. */
async function crashed(at: World, nth: number, when: 'before' | 'after'): Promise<boolean> {
  const runId = await at.runs.open(['D-1']);
  at.opened.push(runId);
  const [row] = await at.runs.pending(runId);
  assert.ok(row !== undefined);
  const { life, desk } = at.runs.process;
  life.dieAt(nth, when);
  // What a dead process was asked is never answered.
  desk.decide(APPROVER, approvalOf(row)).catch(() => undefined);
  for (let turn = 0; turn < 12 && !life.dead; turn++) await at.runs.clock.advance(250);
  const died = life.dead;
  await at.runs.restart();
  const again = await at.runs.pending(runId);
  for (const open of again) await at.runs.approve(open);
  return died;
}

for (const when of ['before', 'after'] as const)
  test(`a crash ${when} every single call to the outside leaves one effect`, async () => {
    let nth = 0;
    for (let died = true; died;) {
      nth += 1;
      await using at = await world();
      died = await crashed(at, nth, when);
      await clearUp(at);
      await assertSingle(at);
      assert.equal(at.target.appliedCount(), 1, `crash ${when} call ${nth}`);
    }
    assert.ok(nth >= 8, `only ${nth} calls were seen`);
  });

type Step =
  | { readonly kind: 'approve' | 'reject'; readonly second: boolean; readonly crash: number; readonly after: boolean }
  | { readonly kind: 'open' | 'restart' | 'redeliver' | 'reconcile' | 'repropose' }
  | { readonly kind: 'fault'; readonly fault: ApplyFault }
  | { readonly kind: 'hide'; readonly count: number }
  | { readonly kind: 'move' | 'advance'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('approve' as const, 'approve' as const, 'approve' as const, 'reject' as const),
      second: fc.boolean(),
      crash: fc.integer({ min: 0, max: 24 }),
      after: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('open', 'restart', 'redeliver', 'reconcile', 'repropose') }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      fault: fc.constantFrom<ApplyFault>(
        'lost_reply',
        'lost_request',
        'unavailable_before',
        'unavailable_after',
        'refused',
        'version_moved',
        'hang',
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('hide' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('move' as const, 'advance' as const),
      ms: fc.integer({ min: 0, max: 4_000_000 }),
    }),
  },
);

async function begin({ runs, opened }: World): Promise<void> {
  const runId = await runs.open(['D-1', `D-${opened.length + 1}`]);
  if ((await runs.store.events({ tenant: 't9', runId }, 0, 1)).length > 0) opened.push(runId);
}

/** Nobody waits for an answer: a process may be dead. */
function ask(work: Promise<unknown>): void {
  work.catch(() => undefined);
}

async function play(at: World, one: Step): Promise<void> {
  const { runs, target, opened } = at;
  if (runs.process.life.dead) await runs.restart();
  const { desk, writer, life } = runs.process;
  switch (one.kind) {
    case 'open':
      // A run that nobody could open because the process died is none.
      if (opened.length < 3) await begin(at);
      break;
    case 'approve':
    case 'reject':
      if (one.crash > 0) life.dieAt(one.crash, one.after ? 'after' : 'before');
      for (const row of await runs.store.approvalList({ tenant: 't9', limit: 100 })) {
        const disposition = one.kind === 'approve' ? ('approved' as const) : ('rejected' as const);
        const said = { ...approvalOf(row), disposition, reason: 'As said.' };
        ask(desk.decide(one.second ? SECOND_APPROVER : APPROVER, said));
        ask(desk.decide(APPROVER, said));
      }
      break;
    case 'restart':
      await runs.restart();
      break;
    case 'redeliver':
      for (const row of await runs.store.approvalList({ tenant: 't9', limit: 100 })) {
        const todo = { kind: 'applyEffect', stepId: row.stepId, approvalId: row.approvalId, attempt: 1 } as const;
        ask(writer.apply({ tenant: 't9', runId: row.runId }, todo, signal));
        ask(writer.apply({ tenant: 't9', runId: row.runId }, todo, signal));
      }
      break;
    case 'reconcile':
      for (const { effectId } of await runs.store.effectList({ tenant: 't9', limit: 100 }))
        ask(desk.reconcile(APPROVER, { effectId, finding: undefined, reason: null }, signal));
      break;
    case 'repropose':
      for (const { approvalId } of await runs.store.approvalList({ tenant: 't9', state: 'stale', limit: 100 }))
        ask(desk.repropose(INQUIRY_GRANT, approvalId, signal));
      break;
    case 'fault':
      target.faults.push(one.fault);
      break;
    case 'hide':
      target.hiddenReadBackCount = one.count;
      break;
    case 'move':
      target.move('notice-draft:D-1');
      break;
    case 'advance':
      await runs.clock.advance(one.ms);
      break;
  }
  await runs.clock.advance(300);
}

test('no interleaving of decisions, repetitions, faults and crashes gives two effects, or one without its approval', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 14 }), async (steps) => {
      await using at = await world();
      await play(at, { kind: 'open' });
      for (const one of steps) await play(at, one);
      await clearUp(at);
      await assertSingle(at);
    }),
    { numRuns: Number(process.env['CASEOPS_PROPERTY_RUNS'] ?? '60') },
  );
});
