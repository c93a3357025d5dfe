/** The store's promises, one test each; every implementation runs this suite. Source: DESIGN §4, ENGINE, `ports/store.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '#contracts/event.ts';
import { verifyChain } from '#kernel/chain.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { RecordWrite, Store } from '#ports/store.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { durabilitySuite } from './suite-durability.ts';
import { erasureSuite } from './suite-erasure.ts';
import { ledgerSuite } from './suite-ledger.ts';
import { lockSuite } from './suite-locks.ts';
import { quotaSuite } from './suite-quotas.ts';
import {
  artifactOf,
  commitOf,
  committed,
  effectOf,
  jobOf,
  keyOf,
  leaseOf,
  refOf,
  START_MS,
  useOf,
} from './suite-samples.ts';
import type { StoreSubject } from './suite-subject.ts';

/** Registers the suite's tests under `name`. */
export function storeSuite(name: string, subject: () => Promise<StoreSubject>): void {
  const inStore = (title: string, body: (store: Store, again: StoreSubject) => Promise<void>): void => {
    test(`${name}: ${title}`, async () => {
      await using place = await subject();
      await using store = await place.open(seededClock(START_MS));
      await body(store, place);
    });
  };
  sequenceTests(inStore);
  recordTests(inStore);
  readTests(inStore);
  ledgerSuite(name, subject);
  lockSuite(name, subject);
  quotaSuite(name, subject);
  erasureSuite(name, subject);
  durabilitySuite(name, subject);
}

type InStore = (title: string, body: (store: Store, place: StoreSubject) => Promise<void>) => void;

function sequenceTests(inStore: InStore): void {
  inStore('a commit at another sequence is refused with the actual one and writes nothing', async (store) => {
    const ref = refOf('seq');
    const first = await committed(store, commitOf(ref, { eventCount: 3 }));
    const stale = commitOf(ref, { after: first.slice(0, 2), addJobs: [jobOf(ref)] });
    assert.deepEqual(await store.commit(stale), { ok: false, conflict: 'sequence', actualSeq: 3 });
    assert.deepEqual(await store.commit(commitOf(ref)), { ok: false, conflict: 'sequence', actualSeq: 3 });
    assert.equal((await store.events(ref, 0, 100)).length, 3);
    assert.deepEqual(await store.jobs(ref), []);
  });

  inStore('a commit to a run that nobody opened is refused', async (store) => {
    const opened = commitOf(refOf('other'));
    const outcome = await store.commit(commitOf(refOf('other'), { after: opened.events }));
    assert.deepEqual(outcome, { ok: false, conflict: 'sequence', actualSeq: 0 });
  });

  inStore('a commit whose events are not the next ones of its own run is a fault of the caller', async (store) => {
    const ref = refOf('gap');
    const whole = commitOf(ref, { eventCount: 2 });
    await assert.rejects(store.commit({ ...whole, events: whole.events.slice(1) }), { code: 'ERR_INVARIANT' });
    await assert.rejects(store.commit({ ...whole, ref: refOf('gap', 't8') }), { code: 'ERR_INVARIANT' });
    const foreign = { table: 'lease', row: leaseOf(refOf('gap', 't8'), 'lse_foreign') } as const;
    await assert.rejects(store.commit({ ...whole, records: [foreign] }), { code: 'ERR_INVARIANT' });
    assert.equal(await store.head(ref), undefined);
  });

  inStore('events come back in order, whole, in a chain that holds, page by page', async (store) => {
    const ref = refOf('order');
    const first = await committed(store, commitOf(ref, { eventCount: 5 }));
    const second = await committed(store, commitOf(ref, { after: first, eventCount: 6 }));
    const stored = await store.events(ref, 0, 100);
    assert.deepEqual(stored, [...first, ...second]);
    assert.equal(verifyChain({ ref, seq: 0, hash: '' }, stored).ok, true);
    assert.deepEqual(await store.events(ref, 4, 3), stored.slice(4, 7));
  });

  inStore('two hundred runs commit at the same time, each as if alone', async (store) => {
    const runs = Array.from({ length: 200 }, (_, index) => `many-${index}`);
    await Promise.all(
      runs.map(async (run) => {
        let after: readonly RunEvent[] = [];
        for (let round = 0; round < 5; round++) after = await committed(store, commitOf(refOf(run), { after }));
      }),
    );
    for (const run of runs) assert.equal((await store.head(refOf(run)))?.seq, 5);
  });

  inStore('of commits that wait together, a refused one costs its neighbours nothing', async (store) => {
    const taken = refOf('taken');
    await committed(store, commitOf(taken, { records: [keyOf(taken, 'k', 'first')] }));
    const refused = refOf('refused');
    const outcomes = await Promise.all([
      store.commit(commitOf(refOf('before'))),
      store.commit(commitOf(refused, { addJobs: [jobOf(refused)], records: [keyOf(refused, 'k', 'second')] })),
      store.commit(commitOf(taken)),
      store.commit(commitOf(refOf('after'))),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.ok),
      [true, false, false, true],
    );
    assert.equal(await store.head(refused), undefined);
    assert.deepEqual(await store.jobs(refused), []);
    assert.equal((await store.head(refOf('after')))?.seq, 1);
  });

  inStore('listeners hear each durable commit once, until they stop', async (store) => {
    const heard: string[] = [];
    const stop = store.onCommit((events, head) => heard.push(`${head.ref.runId} ${events.length}`));
    await committed(store, commitOf(refOf('heard'), { eventCount: 2 }));
    await store.commit(commitOf(refOf('heard')));
    stop();
    await committed(store, commitOf(refOf('unheard')));
    assert.deepEqual(heard, ['run_heard 2']);
  });
}

const use = (request: string): RecordWrite => useOf('lse_n', request, 3);

function recordTests(inStore: InStore): void {
  inStore('a lease that may be used once is used once, whoever is first', async (store) => {
    const refs = Array.from({ length: 5 }, (_, index) => refOf(`use-${index}`));
    const outcomes = await Promise.all(
      refs.map((ref) => store.commit(commitOf(ref, { records: [useOf('lse_1', ref.runId)] }))),
    );
    assert.equal(outcomes.filter((outcome) => outcome.ok).length, 1);
    const winner = refs[outcomes.findIndex((outcome) => outcome.ok)];
    const requestDigest = digestOfBytes(winner?.runId ?? '');
    assert.deepEqual(await store.consumption('t9', 'https://issuer.example', 'lse_1'), [{ requestDigest }]);
    assert.deepEqual(await store.write([useOf('lse_1', 'late')]), {
      ok: false,
      conflict: 'record',
      table: 'consumption',
      key: 't9 https://issuer.example lse_1',
      requestDigest,
      runId: winner?.runId,
    });
  });

  inStore('a lease for n uses is used n times, also when one commit holds several', async (store) => {
    assert.deepEqual(await store.write([use('a'), use('b')]), { ok: true });
    assert.equal((await store.write([use('c'), use('d')])).ok, false);
    assert.deepEqual(await store.write([use('c')]), { ok: true });
    const refused = await store.write([use('b')]);
    assert.equal(!refused.ok && refused.conflict === 'record' && refused.requestDigest, digestOfBytes('b'));
    assert.equal((await store.consumption('t9', 'https://issuer.example', 'lse_n')).length, 3);
  });

  inStore('an idempotency key stays with its first request and says with which run', async (store) => {
    const ref = refOf('key');
    await committed(store, commitOf(ref, { records: [keyOf(ref, 'k', 'request')] }));
    const held = { requestDigest: digestOfBytes('request'), runId: ref.runId };
    const refused = { ok: false, conflict: 'record', table: 'idempotency', key: 't9 ask k', ...held };
    const second = refOf('key-2');
    assert.deepEqual(await store.commit(commitOf(second, { records: [keyOf(second, 'k', 'request')] })), refused);
    assert.deepEqual(await store.commit(commitOf(second, { records: [keyOf(second, 'k', 'other')] })), refused);
    assert.deepEqual(await store.idempotency('t9', 'ask', 'k'), held);
    assert.equal(await store.idempotency('t8', 'ask', 'k'), undefined);
  });

  inStore('records are written all or none', async (store) => {
    const ref = refOf('all');
    const lease = { table: 'lease', row: leaseOf(ref, 'lse_all') } as const;
    assert.deepEqual(await store.write([lease]), { ok: true });
    const refused = await store.write([keyOf(ref, 'new', 'x'), artifactOf(ref, 'bytes'), lease]);
    assert.equal(!refused.ok && refused.conflict === 'record' && refused.table, 'lease');
    assert.equal(await store.idempotency('t9', 'ask', 'new'), undefined);
    assert.equal(await store.artifact('t9', artifactOf(ref, 'bytes').digest), undefined);
    const twice = { table: 'lease', row: leaseOf(ref, 'lse_twice') } as const;
    assert.equal((await store.write([twice, twice])).ok, false);
    assert.equal(await store.lease('t9', 'lse_twice'), undefined);
  });

  inStore('an artifact is written again without conflict and read back byte for byte', async (store) => {
    const ref = refOf('artifact');
    const artifact = artifactOf(ref, 'ÿ\u0000 bytes');
    await committed(store, commitOf(ref, { records: [artifact, artifact] }));
    assert.deepEqual(await store.write([artifact]), { ok: true });
    assert.deepEqual(Buffer.from((await store.artifact('t9', artifact.digest)) ?? []), Buffer.from(artifact.bytes));
  });

  inStore('an artifact of 256 kB is held, and what is larger is nowhere in the database', async (store, place) => {
    const ref = refOf('size');
    const fits = artifactOf(ref, 'x'.repeat(262_144));
    await committed(store, commitOf(ref, { records: [fits] }));
    assert.equal((await store.artifact('t9', fits.digest))?.byteLength, 262_144);
    const large = artifactOf(ref, 'y'.repeat(262_145));
    if (place.hasLargeArtifacts === true) {
      assert.deepEqual(await store.write([large]), { ok: true });
      assert.equal((await store.artifact('t9', large.digest))?.byteLength, 262_145);
      return;
    }
    await assert.rejects(store.write([large]), { code: 'ERR_ARTIFACT_SIZE' });
    await assert.rejects(store.commit(commitOf(refOf('size-2'), { records: [large] })), { code: 'ERR_ARTIFACT_SIZE' });
    assert.equal(await store.head(refOf('size-2')), undefined);
    assert.equal(await store.artifact('t9', large.digest), undefined);
  });

  inStore('a lease is bound to the first task that is accepted under it', async (store) => {
    const ref = refOf('bind');
    await store.write([{ table: 'lease', row: leaseOf(ref, 'lse_bind') }]);
    const bound = await Promise.all(
      ['task-a', 'task-b'].map((task) => store.bindLeaseTask({ tenant: 't9', leaseId: 'lse_bind' }, task)),
    );
    assert.deepEqual(bound, [true, false]);
    assert.equal(await store.bindLeaseTask({ tenant: 't9', leaseId: 'lse_bind' }, 'task-a'), true);
    assert.equal(await store.bindLeaseTask({ tenant: 't9', leaseId: 'lse_unknown' }, 'task-a'), false);
    assert.equal((await store.lease('t9', 'lse_bind'))?.taskId, 'task-a');
    assert.deepEqual(
      (await store.leasesOfRun('t9', ref.runId)).map((row) => row.leaseId),
      ['lse_bind'],
    );
  });

  inStore('the effect ledger holds one row per idempotency key', async (store) => {
    const ref = refOf('effect');
    const row = effectOf(ref, 'eff_1', 'notice:C-102');
    assert.deepEqual(await store.write([{ table: 'effect', row }]), { ok: true });
    const again = { ...row, effectId: 'eff_2' } as const;
    assert.equal((await store.write([{ table: 'effect', row: again }])).ok, false);
    assert.deepEqual(await store.effects('t9', ref.runId), [row]);
    assert.deepEqual(await store.effects('t8', ref.runId), []);
  });
}

const names = (heads: readonly { readonly ref: { readonly runId: string } }[]): string[] =>
  heads.map((head) => head.ref.runId.replace('run_list-', ''));

function readTests(inStore: InStore): void {
  inStore('jobs stay until they are done', async (store) => {
    const ref = refOf('jobs');
    const after = await committed(store, commitOf(ref, { addJobs: [jobOf(ref, 1), jobOf(ref, 2)] }));
    assert.deepEqual(await store.jobs(ref), [jobOf(ref, 1), jobOf(ref, 2)]);
    await committed(store, commitOf(ref, { after, doneJobIds: ['send:s1:1'], addJobs: [jobOf(ref, 3)] }));
    assert.deepEqual(await store.jobs(ref), [jobOf(ref, 2), jobOf(ref, 3)]);
  });

  inStore('one tenant sees nothing of another, even under the same ids', async (store) => {
    const own = refOf('same', 't9');
    const other = refOf('same', 't8');
    await committed(store, commitOf(own, { eventCount: 2, addJobs: [jobOf(own)], records: [artifactOf(own, 'x')] }));
    assert.equal(await store.head(other), undefined);
    assert.deepEqual(await store.events(other, 0, 10), []);
    assert.deepEqual(await store.jobs(other), []);
    assert.equal(await store.artifact('t8', artifactOf(own, 'x').digest), undefined);
    await committed(store, commitOf(other));
    assert.equal((await store.head(own))?.seq, 2);
    assert.deepEqual(
      (await store.runs({ tenant: 't8', limit: 10 })).map((head) => head.ref),
      [other],
    );
  });

  inStore('runs are listed newest first with a cursor, open runs oldest first', async (store) => {
    for (const [index, phase] of (['running', 'ended', 'blocked', 'running'] as const).entries())
      await committed(store, commitOf(refOf(`list-${index}`), { phase, startedAt: `2026-07-22T14:00:0${index}.000Z` }));
    await committed(store, commitOf(refOf('list-team'), { level: 'team' }));
    assert.deepEqual(names(await store.runs({ level: 'central', limit: 10 })), ['3', '2', '1', '0']);
    assert.deepEqual(names(await store.runs({ level: 'central', limit: 2, before: 'run_list-2' })), ['1', '0']);
    assert.deepEqual(names(await store.runs({ phase: 'blocked', limit: 10 })), ['2']);
    assert.deepEqual(names(await store.openRuns('central', 10)), ['0', '2', '3']);
    assert.deepEqual(names(await store.openRuns('central', 1)), ['0']);
    assert.deepEqual(names(await store.openRuns('team', 10)), ['team']);
  });

  inStore('a head comes back as it was written, with what changed since', async (store) => {
    const ref = refOf('head');
    const opened = commitOf(ref);
    const after = await committed(store, opened);
    assert.deepEqual(await store.head(ref), opened.head);
    const ended = commitOf(ref, { after, phase: 'ended' });
    await committed(store, { ...ended, head: { ...ended.head, needsHuman: true, subject: 'claim:C-103' } });
    assert.deepEqual(await store.head(ref), { ...ended.head, needsHuman: true, subject: 'claim:C-103' });
  });
}
