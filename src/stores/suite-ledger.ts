/** The store's promises about the effect ledger and the approvals: folded from the events of a commit, in its transaction. INV-12. */
import { EFFECT_ACTION_VERSION, type EffectAction } from '#contracts/effect-action.ts';
import type { RunRef } from '#contracts/command.ts';
import type { EventDraft, RunEvent } from '#contracts/event.ts';
import { PROPOSAL_VERSION, type Proposal } from '#contracts/proposal.ts';
import { actionContentDigest, actionDigest } from '#kernel/action-digest.ts';
import { sealEvent } from '#kernel/chain.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { Commit, Store } from '#ports/store.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AT, commitOf, committed, refOf, START_MS } from './suite-samples.ts';
import type { StoreSubject } from './suite-subject.ts';

/** Registers the suite's tests under `name`. */
export function ledgerSuite(name: string, subject: () => Promise<StoreSubject>): void {
  const inStore = (title: string, body: (store: Store) => Promise<void>): void => {
    test(`${name}: ${title}`, async () => {
      await using place = await subject();
      await using store = await place.open(seededClock(START_MS));
      await body(store);
    });
  };

  inStore('an effect and its approval are rows as soon as their events are written', async (store) => {
    const ref = refOf('applied');
    const log = await begun(store, ref, 'k1');
    const row = await store.effectByKey('t9', 'k1');
    assert.deepEqual([row?.effectId, row?.state, row?.runId], ['eff_applied', 'in_progress', ref.runId]);
    assert.deepEqual(await store.effect('t9', 'eff_applied'), row);
    assert.equal(await store.effect('t8', 'eff_applied'), undefined);
    assert.equal(await store.effectByKey('t8', 'k1'), undefined);
    assert.equal((await store.approval('t9', 'apv_applied'))?.state, 'spent');
    assert.equal(await store.approval('t8', 'apv_applied'), undefined);
    await committed(store, appended(ref, log, [unknown('applied')]));
    assert.equal((await store.effect('t9', 'eff_applied'))?.state, 'unknown');
    assert.equal((await store.effect('t9', 'eff_applied'))?.history.length, 2);
  });

  inStore(
    'a second effect under a key is a conflict with the first, and nothing of its commit is written',
    async (store) => {
      await begun(store, refOf('first'), 'k1');
      const second = refOf('second');
      const opened = await committed(store, commitOf(second));
      const commit = appended(second, opened, drafts('second', { ref: second, key: 'k1', resource: 'claim:C-9' }));
      const outcome = await store.commit(commit);
      assert.ok(!outcome.ok && outcome.conflict === 'record');
      assert.deepEqual([outcome.table, outcome.key, outcome.runId], ['effect', 'key k1', refOf('first').runId]);
      assert.equal((await store.head(second))?.seq, 1);
      assert.equal(await store.approval('t9', 'apv_second'), undefined);
    },
  );

  inStore(
    'one writer per resource: an effect under way or in doubt holds it, one that is over does not',
    async (store) => {
      const first = refOf('holder');
      const log = await begun(store, first, 'k1');
      const second = refOf('waiter');
      const opened = await committed(store, commitOf(second));
      const commit = appended(second, opened, drafts('waiter', { ref: second, key: 'k2' }));
      const held = await store.commit(commit);
      assert.ok(!held.ok && held.conflict === 'record');
      assert.equal(held.key, 'resource outbox claim:C-102');
      const doubtful = await committed(store, appended(first, log, [unknown('holder')]));
      assert.equal((await store.commit(commit)).ok, false);
      const absent: EventDraft = {
        kind: 'effect.reconciled',
        body: { effectId: 'eff_holder', attempt: 1, by: 'outbox', finding: 'absent', source: 'owner', note: '' },
      };
      const free = await committed(store, appended(first, [...log, ...doubtful], [absent]));
      assert.deepEqual(await store.commit(commit), { ok: true });
      const retried: EventDraft = {
        kind: 'effect.retried',
        body: { effectId: 'eff_holder', attempt: 2, leaseId: 'lse_2', liveVersion: 'v17' },
      };
      const again = await store.commit(appended(first, [...log, ...doubtful, ...free], [retried]));
      assert.ok(!again.ok && again.conflict === 'record', 'the other run holds the resource now');
    },
  );

  inStore('ledger and approvals are listed by tenant, run and state, newest first', async (store) => {
    await begun(store, refOf('one'), 'k1', 'claim:C-1');
    await begun(store, refOf('two'), 'k2', 'claim:C-2');
    const ids = async (query: Parameters<Store['effectList']>[0]): Promise<readonly string[]> =>
      (await store.effectList(query)).map(({ effectId }) => effectId);
    assert.deepEqual(await ids({ tenant: 't9', limit: 10 }), ['eff_two', 'eff_one']);
    assert.deepEqual(await ids({ tenant: 't9', limit: 1 }), ['eff_two']);
    assert.deepEqual(await ids({ tenant: 't9', runId: refOf('one').runId, limit: 10 }), ['eff_one']);
    assert.deepEqual(await ids({ tenant: 't9', state: 'completed', limit: 10 }), []);
    assert.deepEqual(await ids({ tenant: 't8', limit: 10 }), []);
    const spent = await store.approvalList({ tenant: 't9', state: 'spent', limit: 10 });
    assert.deepEqual(
      spent.map(({ approvalId }) => approvalId),
      ['apv_two', 'apv_one'],
    );
    assert.deepEqual(await store.approvalList({ tenant: 't9', state: 'pending', limit: 10 }), []);
    assert.equal((await store.approvalList({ tenant: 't9', runId: refOf('one').runId, limit: 10 })).length, 1);
  });
}

/** A run with an effect that is under way; returns its log. */
async function begun(store: Store, ref: RunRef, key: string, resource = 'claim:C-102'): Promise<readonly RunEvent[]> {
  const opened = await committed(store, commitOf(ref));
  const name = ref.runId.slice('run_'.length);
  return [...opened, ...(await committed(store, appended(ref, opened, drafts(name, { ref, key, resource }))))];
}

function unknown(name: string): EventDraft {
  return { kind: 'effect.unknown', body: { effectId: `eff_${name}`, attempt: 1, note: 'hidden' } };
}

/** Requested, granted, spent and intended. */
function drafts(
  name: string,
  of: { readonly ref: RunRef; readonly key: string; readonly resource?: string },
): readonly EventDraft[] {
  const action = actionOf(of.ref, of.key, of.resource ?? 'claim:C-102');
  const proposal = proposalOf(name, action);
  const { approvalId } = proposal;
  const effectId = `eff_${name}` as const;
  return [
    { kind: 'approval.requested', body: { approvalId, stepId: 's5', planVersion: 1, proposal } },
    {
      kind: 'approval.granted',
      body: {
        approvalId,
        decision: {
          by: 'approver@t9',
          role: 'approver',
          trainingRef: null,
          channel: 'cli',
          disposition: 'approved',
          reason: null,
          evidenceInView: [],
          actionDigest: proposal.actionDigest,
          viewDigest: proposal.viewDigest,
          decidedAt: AT,
        },
      },
    },
    { kind: 'approval.spent', body: { approvalId, effectId, leaseId: 'lse_effect' } },
    {
      kind: 'effect.intended',
      body: {
        effectId,
        attempt: 1,
        approvalId,
        stepId: 's5',
        planVersion: 1,
        action,
        actionDigest: actionDigest(action),
        contentDigest: actionContentDigest(action),
        leaseId: 'lse_effect',
        liveVersion: 'v17',
        policyDigest: proposal.rule.policyDigest,
      },
    },
  ];
}

function actionOf({ tenant, runId }: RunRef, idempotencyKey: string, resource: string): EffectAction {
  return {
    contractVersion: EFFECT_ACTION_VERSION,
    action: 'notify:send',
    target: 'outbox',
    tenant,
    resource,
    expectedVersion: 'v17',
    parameters: { channel: 'mail' },
    idempotencyKey,
    runId,
    stepId: 's5',
    requestedBy: 'requester@t9',
  };
}

function proposalOf(name: string, action: EffectAction): Proposal {
  return {
    contractVersion: PROPOSAL_VERSION,
    approvalId: `apv_${name}`,
    action,
    actionDigest: actionDigest(action),
    presentational: {},
    before: null,
    view: { title: 'Send a notice', rows: [] },
    viewDigest: digestOfBytes('view'),
    rule: {
      mode: 'person',
      role: 'approver',
      quorumCount: 1,
      policyName: 'table',
      policyDigest: digestOfBytes('policy'),
    },
    evidence: [],
    expiresAt: '2026-07-22T15:00:00.000Z',
  };
}

/** A commit that appends these events to a run's log. */
function appended(ref: RunRef, log: readonly RunEvent[], added: readonly EventDraft[]): Commit {
  const events: RunEvent[] = [];
  for (const draft of added) {
    const last = events.at(-1) ?? log.at(-1);
    assert.ok(last !== undefined);
    events.push(sealEvent({ ref, seq: last.seq, hash: last.hash }, draft, { at: AT, actor: 'writer' }));
  }
  const whole = commitOf(ref, { after: log });
  const last = events.at(-1);
  assert.ok(last !== undefined);
  return { ...whole, events, head: { ...whole.head, seq: last.seq, hash: last.hash } };
}
