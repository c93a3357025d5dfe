import type { Artifact } from '#contracts/artifact.ts';
import type { Claim } from '#contracts/claim.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import { whyView, type WhyView } from '#contracts/run-view.ts';
import type { Store } from '#ports/store.ts';
import { INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import { inquiryWorld, type InquiryWorld } from '#testing/inquiry-world.ts';
import { plantEffect } from '#testing/planted-effect.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainClaims } from './why.ts';

test('each fact leads from claim to evidence, record, tool call, worker, task, step and leases, and all hold', async () => {
  await using world = await inquiryWorld();
  const { runId } = await world.ask();
  const views = await world.desk.why(INQUIRY_GRANT, runId, undefined);
  assert.equal(views.length, 5);
  for (const view of views) {
    assert.deepEqual(whyView.safeParse(view).error?.issues ?? [], []);
    assert.equal(view.holds, true, JSON.stringify(view));
  }
  const [status] = views;
  assert.deepEqual(
    status?.branches[0]?.links.map(({ kind, verdict }) => [kind, verdict]),
    [
      ['claim', 'Bound'],
      ['evidence', 'Known'],
      ['record', 'Resolves'],
      ['tool_call', 'Conforms'],
      ['worker', 'Known'],
      ['task', 'Known'],
      ['step', 'Accepted'],
      ['lease', 'Inside parent'],
      ['lease', 'Known'],
      ['approval', 'Not needed'],
    ],
  );
  assert.equal(status?.branches[0]?.anchor, 'claim:C-102@v17');
  assert.equal(status.branches[0].links[2]?.detail['status'], '/status = pending_documents');
});

test('"nothing was sent" leads to the frozen prohibition, the lease registry and the effect ledger', async () => {
  await using world = await inquiryWorld();
  const { runId } = await world.ask();
  const [view] = await world.desk.why(INQUIRY_GRANT, runId, 'not-sent');
  assert.deepEqual(
    view?.branches[0]?.links.map(({ kind, verdict }) => [kind, verdict]),
    [
      ['claim', 'Bound'],
      ['prohibition', 'Bound'],
      ['lease_registry', 'Known'],
      ['effect_ledger', 'Known'],
    ],
  );
  await plantEffect(world, runId);
  const [after] = await world.desk.why(INQUIRY_GRANT, runId, 'not-sent');
  assert.equal(after?.holds, false);
  assert.equal(after.branches[0]?.links.at(-1)?.verdict, 'Broken');
});

test('a claim is found by its id and by its key; an unknown one, or a run without an answer, is not found', async () => {
  await using world = await inquiryWorld();
  const view = await world.ask();
  const id = view.claims[0]?.claimId;
  const byId = await world.desk.why(INQUIRY_GRANT, view.runId, id);
  assert.deepEqual(byId, await world.desk.why(INQUIRY_GRANT, view.runId, 'status'));
  await assert.rejects(world.desk.why(INQUIRY_GRANT, view.runId, 'none'), notFound);
  const blocked = await world.ask('Why is it held?');
  await assert.rejects(world.desk.why(INQUIRY_GRANT, blocked.runId, undefined), notFound);
});

function notFound(error: unknown): boolean {
  return error instanceof CaseOpsError && error.code === 'ERR_NOT_FOUND';
}

test('a value that the record does not say, or a text that the slots do not give, breaks its link', async () => {
  await using world = await inquiryWorld();
  const { runId } = await world.ask();
  const said = (change: (claim: Claim) => Claim): Partial<Store> => ({
    events: async (...args) =>
      (await world.store.events(...args)).map((event): RunEvent => {
        if (event.kind !== 'answer.composed') return event;
        const { answer } = event.body;
        return { ...event, body: { answer: { ...answer, claims: answer.claims.map(change) } } };
      }),
  });
  const value = await explainTampered(world, runId, said(closed));
  assert.deepEqual(broken(value), ['claim', 'record']);
  const text = await explainTampered(
    world,
    runId,
    said((claim) => ({ ...claim, text: 'All is well.' })),
  );
  assert.deepEqual(broken(text), ['claim']);
});

function closed(claim: Claim): Claim {
  const slots = Object.entries(claim.slots).map(([name, slot]) => [name, { ...slot, value: 'closed' }] as const);
  return { ...claim, slots: Object.fromEntries(slots) };
}

function broken(view: WhyView): readonly string[] {
  return view.branches.flatMap(({ links }) =>
    links.flatMap(({ kind, verdict }) => (verdict === 'Broken' ? [kind] : [])),
  );
}

/** What somebody with access to the store changes, and the link that must break. */
const TAMPERED: Readonly<Record<string, readonly [link: string, change: (store: Store) => Partial<Store>]>> = {
  'an event': ['claim', (store) => ({ events: async (...args) => (await store.events(...args)).map(changedEvent) })],
  'an artifact': ['evidence', (store) => ({ artifact: async (...args) => flipped(await store.artifact(...args)) })],
  'a lost artifact': ['evidence', () => ({ artifact: () => Promise.resolve(undefined) })],
  'a lost lease row': ['lease', () => ({ leasesOfRun: () => Promise.resolve([]) })],
  'a widened child lease': [
    'lease',
    (store) => leases(store, (row) => (row.depth === 1 ? { ...row, actions: ['notify:send'] } : row)),
  ],
  'a lease with a prohibited action': [
    'lease',
    (store) => leases(store, (row) => ({ ...row, actions: [...row.actions, 'notify:send'] })),
  ],
};

for (const [what, [kind, change]] of Object.entries(TAMPERED))
  test(`${what} in the store breaks the ${kind} link and the claim no longer holds`, async () => {
    await using world = await inquiryWorld();
    const { runId } = await world.ask();
    const view = await explainTampered(world, runId, change(world.store));
    assert.equal(view.holds, false);
    const links = view.branches.flatMap((branch) => branch.links).filter(({ verdict }) => verdict === 'Broken');
    assert.ok(
      links.some((link) => link.kind === kind),
      JSON.stringify(links),
    );
    assert.equal(view.brokenCount, links.length);
  });

async function explainTampered(world: InquiryWorld, runId: string, change: Partial<Store>): Promise<WhyView> {
  const { ref } = await world.state(runId);
  const [view] = await explainClaims({ ...world.store, ...change }, { ref, claim: 'status' });
  assert.ok(view !== undefined);
  return view;
}

function changedEvent(event: RunEvent): RunEvent {
  return event.kind === 'artifact.accepted' ? { ...event, actor: 'somebody else' } : event;
}

function flipped(bytes: Uint8Array | undefined): Uint8Array | undefined {
  if (bytes === undefined) return undefined;
  const artifact = JSON.parse(new TextDecoder().decode(bytes)) as Artifact;
  return new TextEncoder().encode(JSON.stringify({ ...artifact, status: 'partial' }));
}

function leases(store: Store, change: (row: LeaseRow) => LeaseRow): Partial<Store> {
  return { leasesOfRun: async (...args) => (await store.leasesOfRun(...args)).map(change) };
}
