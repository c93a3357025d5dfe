import type { ApprovalRow } from '#contracts/approval.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import { whyView, type WhyView } from '#contracts/run-view.ts';
import type { Store } from '#ports/store.ts';
import { inquiryWorld, type InquiryWorld } from '#testing/inquiry-world.ts';
import { createMemoryTarget } from '#testing/memory-effect-target.ts';
import { APPROVER, NOTICE_TEXT } from '#testing/notice-case.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainClaims } from './why.ts';

interface Sent {
  readonly world: InquiryWorld;
  readonly runId: string;
}

async function sent(): Promise<Sent & AsyncDisposable> {
  const world = await inquiryWorld({ targets: (clock) => [createMemoryTarget({ clock })] });
  const { runId } = await world.ask(NOTICE_TEXT);
  const [row] = await world.desk.approvals(APPROVER, { state: 'pending', runId, limit: 10 });
  assert.ok(row !== undefined);
  await world.desk.decide(APPROVER, {
    approvalId: row.approvalId,
    digest: row.proposal.actionDigest,
    disposition: 'approved',
    reason: null,
    evidenceInView: undefined,
    channel: 'cli',
  });
  assert.equal((await world.settle(runId)).result, 'completed');
  return { world, runId, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

async function why({ world, runId }: Sent, change: Partial<Store> = {}): Promise<WhyView> {
  const { ref } = await world.state(runId);
  const [view] = await explainClaims({ ...world.store, ...change }, { ref, claim: 'sent' });
  assert.ok(view !== undefined);
  return view;
}

const linksOf = (view: WhyView) => view.branches.flatMap(({ links }) => links);

test('INV-04: the sentence about an effect leads to ledger row, step, the lease of the writer and the approval that was spent', async () => {
  await using at = await sent();
  const view = await why(at);
  assert.deepEqual(whyView.safeParse(view).error?.issues ?? [], []);
  assert.deepEqual(
    linksOf(view).map(({ kind, verdict }) => [kind, verdict]),
    [
      ['claim', 'Bound'],
      ['evidence', 'Known'],
      ['record', 'Resolves'],
      ['effect_ledger', 'Known'],
      ['step', 'Accepted'],
      ['lease', 'Known'],
      ['approval', 'Bound'],
    ],
  );
  const ledger = linksOf(view).find(({ kind }) => kind === 'effect_ledger')?.detail;
  assert.ok(ledger?.['idempotencyKey'] !== undefined && ledger['expectedVersion'] !== undefined);
  assert.match(linksOf(view).at(-1)?.note ?? '', /approved by approver@t9, spent once/);
});

const effectRow = (store: Store, change: (row: EffectRow) => EffectRow): Partial<Store> => ({
  effect: async (...args) => {
    const row = await store.effect(...args);
    return row === undefined ? undefined : change(row);
  },
});
const approvalRow = (store: Store, change: (row: ApprovalRow) => ApprovalRow): Partial<Store> => ({
  approval: async (...args) => {
    const row = await store.approval(...args);
    return row === undefined ? undefined : change(row);
  },
});
const OTHER = `sha256:${'0'.repeat(64)}` as const;

const TAMPERED: Readonly<Record<string, readonly [link: string, change: (store: Store) => Partial<Store>]>> = {
  'a lost record': ['evidence', () => ({ artifact: () => Promise.resolve(undefined) })],
  'a lost ledger row': ['effect_ledger', () => ({ effect: () => Promise.resolve(undefined) })],
  'a ledger row that does not read back': [
    'effect_ledger',
    () => ({ effect: () => Promise.reject(new Error('gone')) }),
  ],
  'a ledger row of another state': [
    'effect_ledger',
    (store) => effectRow(store, (row) => ({ ...row, state: 'failed' })),
  ],
  'a ledger row of another key': [
    'effect_ledger',
    (store) => effectRow(store, (row) => ({ ...row, idempotencyKey: 'k' })),
  ],
  'a lost approval': ['approval', () => ({ approval: () => Promise.resolve(undefined) })],
  'an approval of another action': [
    'approval',
    (store) => approvalRow(store, (row) => ({ ...row, proposal: { ...row.proposal, actionDigest: OTHER } })),
  ],
  'an approval that was not spent': [
    'approval',
    (store) => approvalRow(store, (row) => ({ ...row, state: 'approved' })),
  ],
  'an approval by who asked': [
    'approval',
    (store) =>
      approvalRow(store, (row) => ({
        ...row,
        decisions: row.decisions.map((decision) => ({ ...decision, by: row.proposal.action.requestedBy })),
      })),
  ],
  'a lost lease': ['lease', () => ({ leasesOfRun: () => Promise.resolve([]) })],
  'a lease for more': [
    'lease',
    (store) => ({
      leasesOfRun: async (...args) =>
        (await store.leasesOfRun(...args)).map((row) => ({
          ...row,
          resources: [...row.resources, 'notice-draft:D-2'],
        })),
    }),
  ],
};

for (const [what, [kind, change]] of Object.entries(TAMPERED))
  test(`${what} breaks the ${kind} link of a sent notice`, async () => {
    await using at = await sent();
    const view = await why(at, change(at.world.store));
    assert.equal(view.holds, false);
    assert.ok(
      linksOf(view).some((link) => link.kind === kind && link.verdict === 'Broken'),
      JSON.stringify(linksOf(view)),
    );
  });
