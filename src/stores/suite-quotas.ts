/** The store's promises about quotas: what a tenant's day may hold is never exceeded, whoever asks at the same time. INV-06. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordWrite, Store } from '#ports/store.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { commitOf, committed, refOf, START_MS } from './suite-samples.ts';
import type { StoreSubject } from './suite-subject.ts';

const DAY = '2026-07-22';
const SCOPE = 'money:EUR';

function holdOf(
  key: string,
  amount: number,
  rest: { readonly tenant?: string; readonly day?: string } = {},
): RecordWrite {
  const { tenant = 't9', day = DAY } = rest;
  return { table: 'quota', tenant, scope: SCOPE, day, key, amount, amountMax: 100 };
}

/** Registers the suite's tests under `name`. */
export function quotaSuite(name: string, subject: () => Promise<StoreSubject>): void {
  const inStore = (title: string, body: (store: Store, place: StoreSubject) => Promise<void>): void => {
    test(`${name}: ${title}`, async () => {
      await using place = await subject();
      await using store = await place.open(seededClock(START_MS));
      await body(store, place);
    });
  };

  inStore(
    'a quota refuses what it has not left, says how much that is, and writes nothing of the commit',
    async (store) => {
      const ref = refOf('rich');
      const after = await committed(store, commitOf(ref, { records: [holdOf('dsp_1', 70)] }));
      assert.deepEqual(await store.commit(commitOf(ref, { after, records: [holdOf('dsp_2', 31)] })), {
        ok: false,
        conflict: 'record',
        table: 'quota',
        key: `t9 ${SCOPE} ${DAY} dsp_2`,
        requestDigest: undefined,
        runId: undefined,
        left: 30,
      });
      assert.equal((await store.head(ref))?.seq, 1);
      assert.equal(await store.quota('t9', SCOPE, DAY), 70);
      await committed(store, commitOf(ref, { after, records: [holdOf('dsp_2', 30)] }));
      assert.equal(await store.quota('t9', SCOPE, DAY), 100);
    },
  );

  inStore('what a key does not use any more is free again; what it holds is counted once', async (store) => {
    assert.deepEqual(await store.write([holdOf('dsp_1', 90)]), { ok: true });
    assert.deepEqual(await store.write([holdOf('dsp_1', 90)]), { ok: true });
    assert.equal(await store.quota('t9', SCOPE, DAY), 90);
    assert.deepEqual(await store.write([holdOf('dsp_1', 20)]), { ok: true });
    assert.deepEqual(await store.write([holdOf('dsp_2', 80)]), { ok: true });
    const grown = await store.write([holdOf('dsp_1', 21)]);
    assert.equal(!grown.ok && grown.conflict === 'record' && grown.left, 20);
    assert.equal(await store.quota('t9', SCOPE, DAY), 100);
  });

  inStore('another tenant, and another day, have a quota of their own', async (store) => {
    assert.deepEqual(await store.write([holdOf('dsp_1', 100)]), { ok: true });
    assert.deepEqual(await store.write([holdOf('dsp_1', 100, { tenant: 't8' })]), { ok: true });
    assert.deepEqual(await store.write([holdOf('dsp_1', 100, { day: '2026-07-23' })]), { ok: true });
    assert.equal((await store.write([holdOf('dsp_2', 1)])).ok, false);
    assert.equal(await store.quota('t8', SCOPE, '2026-07-23'), 0);
  });

  inStore('the holds of one commit are counted together', async (store) => {
    const refused = await store.write([holdOf('dsp_1', 60), holdOf('dsp_2', 60)]);
    assert.equal(!refused.ok && refused.conflict === 'record' && refused.left, 40);
    assert.equal(await store.quota('t9', SCOPE, DAY), 0);
    assert.deepEqual(await store.write([holdOf('dsp_1', 60), holdOf('dsp_2', 40)]), { ok: true });
    assert.equal(await store.quota('t9', SCOPE, DAY), 100);
  });

  inStore('two processes cannot both take the last of it', async (first, place) => {
    await using second = await place.open(seededClock(START_MS));
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const ref = refOf(`race-${index}`);
        const store = index % 2 === 0 ? first : second;
        return store.commit(commitOf(ref, { records: [holdOf(`dsp_${index}`, 7)] }));
      }),
    );
    // 14 × 7 = 98, and a fifteenth would be too many.
    assert.equal(outcomes.filter(({ ok }) => ok).length, 14);
    assert.equal(await first.quota('t9', SCOPE, DAY), 98);
    assert.equal(await second.quota('t9', SCOPE, DAY), 98);
  });
}
