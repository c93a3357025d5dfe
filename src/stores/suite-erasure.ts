/** The store's promises about erasing an ended run: whole or not at all, references stay, the chain holds. INV-11, INV-14. Decision 0022. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRef } from '#contracts/command.ts';
import type { RunEvent } from '#contracts/event.ts';
import { sealEvent, verifyChain } from '#kernel/chain.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { Erasure, Store } from '#ports/store.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { artifactOf, AT, commitOf, committed, effectOf, keyOf, leaseOf, refOf, START_MS } from './suite-samples.ts';
import type { StoreSubject } from './suite-subject.ts';

/** Registers the suite's tests under `name`. */
export function erasureSuite(name: string, subject: () => Promise<StoreSubject>): void {
  const inStore = (title: string, body: (store: Store, place: StoreSubject) => Promise<void>): void => {
    test(`${name}: ${title}`, async () => {
      await using place = await subject();
      await using store = await place.open(seededClock(START_MS));
      await body(store, place);
    });
  };

  inStore('an erased run keeps its envelopes and loses every body; its chain holds by the tombstone', async (store) => {
    const ref = refOf('gone');
    const before = await ended(store, ref, 5);
    assert.deepEqual(await store.erase(erasureOf(ref, before)), { ok: true });
    const after = await store.events(ref, 0, 100);
    assert.deepEqual(
      after.map(({ kind }) => kind),
      [...before.map(() => 'body.erased'), 'run.erased'],
    );
    for (const [index, event] of before.entries()) {
      const { kind, body: _body, ...envelope } = event;
      const { kind: _kind, body, ...kept } = after[index] as Extract<RunEvent, { readonly kind: 'body.erased' }>;
      assert.deepEqual(kept, envelope);
      assert.deepEqual(body, { kind, tombstoneId: 'tmb_gone' });
    }
    assert.equal(verifyChain({ ref, seq: 0, hash: '' }, after).ok, true);
    assert.equal(verifyChain({ ref, seq: 0, hash: '' }, after.slice(0, -1)).ok, false, 'gone without a tombstone');
    const head = await store.head(ref);
    assert.deepEqual([head?.seq, head?.hash, head?.subject, head?.phase], [6, after.at(-1)?.hash, 'erased', 'ended']);
    assert.deepEqual(await store.events(ref, 3, 2), after.slice(3, 5));
  });

  inStore('with artifacts alone the bodies stay', async (store) => {
    const ref = refOf('bytes');
    const before = await ended(store, ref, 3);
    const erasure = erasureOf(ref, before, { uptoSeq: 0, artifacts: ['report'] });
    assert.deepEqual(await store.erase(erasure), { ok: true });
    assert.deepEqual(await store.events(ref, 0, 100), [...before, erasure.tombstone]);
    assert.equal(await store.artifact('t9', digestOfBytes('report')), undefined);
    const again = await store.events(ref, 0, 100);
    const whole = erasureOf(ref, again, { id: 'tmb_then', uptoSeq: 4 });
    assert.deepEqual(await store.erase(whole), { ok: true });
    const kinds = (await store.events(ref, 0, 100)).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['body.erased', 'body.erased', 'body.erased', 'run.erased', 'run.erased']);
  });

  inStore('artifacts go, rows are replaced, keys and other runs and tenants stay as they are', async (store) => {
    const ref = refOf('rows');
    const other = refOf('other', 't8');
    const effect = effectOf(ref, 'eff_rows', 'k-rows');
    const lease = leaseOf(ref, 'lse_rows');
    await store.write([artifactOf(other, 'report'), keyOf(ref, 'k', 'request')]);
    await store.write([
      { table: 'effect', row: effect },
      { table: 'lease', row: lease },
    ]);
    const before = await ended(store, ref, 2);
    const erased = { ...effect, resource: 'claim:erased' };
    const erasure = {
      ...erasureOf(ref, before, { artifacts: ['report', 'never there'] }),
      effects: [erased],
      leases: [{ ...lease, resources: ['claim:erased'] }],
    };
    assert.deepEqual(await store.erase(erasure), { ok: true });
    assert.equal(await store.artifact('t9', digestOfBytes('report')), undefined);
    assert.ok((await store.artifact('t8', digestOfBytes('report'))) !== undefined, 'of another tenant');
    assert.deepEqual(await store.effectByKey('t9', 'k-rows'), erased);
    assert.deepEqual((await store.lease('t9', 'lse_rows'))?.resources, ['claim:erased']);
    assert.equal((await store.idempotency('t9', 'ask', 'k'))?.runId, ref.runId);
  });

  inStore('a run that has not ended, is at another event, or is not there is left whole', async (store) => {
    const open = refOf('open');
    const living = await committed(store, commitOf(open, { eventCount: 2 }));
    assert.deepEqual(await store.erase(erasureOf(open, living)), { ok: false, conflict: 'phase', phase: 'running' });
    const late = refOf('late');
    const before = await ended(store, late, 3);
    const stale = erasureOf(late, before.slice(0, 2));
    assert.deepEqual(await store.erase(stale), { ok: false, conflict: 'sequence', actualSeq: 3 });
    assert.deepEqual(await store.erase(erasureOf(refOf('none'), before.slice(0, 1))), {
      ok: false,
      conflict: 'missing',
    });
    assert.deepEqual(await store.events(open, 0, 100), living);
    assert.deepEqual(await store.events(late, 0, 100), before);
  });

  inStore('the same erasure again changes nothing, and another one after it is refused', async (store) => {
    const ref = refOf('twice');
    const before = await ended(store, ref, 2);
    const erasure = erasureOf(ref, before);
    assert.deepEqual(await store.erase(erasure), { ok: true });
    const once = await store.events(ref, 0, 100);
    assert.deepEqual(await store.erase(erasure), { ok: true });
    assert.deepEqual(await store.events(ref, 0, 100), once);
    const second = await store.erase(erasureOf(ref, before, { id: 'tmb_second' }));
    assert.deepEqual(second, { ok: false, conflict: 'sequence', actualSeq: 3 });
  });

  inStore('listeners hear of the tombstone; who opens the place later reads no body', async (store, place) => {
    const ref = refOf('heard');
    const before = await ended(store, ref, 2);
    const heard: string[] = [];
    const stop = store.onCommit((events) => heard.push(...events.map(({ kind }) => kind)));
    await store.erase(erasureOf(ref, before));
    stop();
    assert.deepEqual(heard, ['run.erased']);
    await using later = await place.open(seededClock(START_MS));
    assert.equal(JSON.stringify(await later.events(ref, 0, 100)).includes('C-102'), false);
  });

  inStore('dropped artifacts are gone for their tenant, and dropping them again drops nothing', async (store) => {
    const ref = refOf('drop');
    await store.write([artifactOf(ref, 'one'), artifactOf(ref, 'two')]);
    const digests = ['one', 'two', 'three'].map(digestOfBytes);
    assert.equal(await store.dropArtifacts('t8', digests), 0);
    assert.equal(await store.dropArtifacts('t9', digests), 2);
    assert.equal(await store.dropArtifacts('t9', digests), 0);
    assert.equal(await store.artifact('t9', digestOfBytes('one')), undefined);
  });
}

/** A run of some events that is over, with one artifact. */
export async function ended(store: Store, ref: RunRef, eventCount: number): Promise<readonly RunEvent[]> {
  return committed(store, commitOf(ref, { eventCount, phase: 'ended', records: [artifactOf(ref, 'report')] }));
}

interface Wanted {
  readonly id?: `tmb_${string}`;
  readonly uptoSeq?: number;
  readonly artifacts?: readonly string[];
}

/** The erasure of a whole run, or as wanted. */
export function erasureOf(ref: RunRef, events: readonly RunEvent[], wanted: Wanted = {}): Erasure {
  const last = events.at(-1);
  assert.ok(last !== undefined);
  const uptoSeq = wanted.uptoSeq ?? last.seq;
  const artifacts = (wanted.artifacts ?? []).map(digestOfBytes);
  const tombstone = sealEvent(
    { ref, seq: last.seq, hash: last.hash },
    {
      kind: 'run.erased',
      body: {
        tombstoneId: wanted.id ?? `tmb_${ref.runId.slice(4)}`,
        scope: uptoSeq === 0 ? 'artifacts' : 'run',
        cause: { kind: 'policy', policyDigest: digestOfBytes('policy'), olderThanDays: 30 },
        by: 'custodian@t9',
        uptoSeq,
        artifacts,
        claims: [],
      },
    },
    { at: AT, actor: 'custodian@t9' },
  ) as Erasure['tombstone'];
  const { head } = commitOf(ref, { phase: 'ended' });
  return {
    tombstone,
    head: { ...head, seq: tombstone.seq, hash: tombstone.hash, subject: 'erased' },
    artifacts,
    approvals: [],
    effects: [],
    leases: [],
  };
}
