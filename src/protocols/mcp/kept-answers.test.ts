import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededClock } from '#testing/seeded-clock.ts';
import { createKeptAnswers, type KeptAnswer } from './kept-answers.ts';

const START_MS = 1_784_732_400_000;

function counting(status = 200, bytes = 1): { readonly make: () => Promise<KeptAnswer>; readonly count: () => number } {
  let count = 0;
  return {
    make: async () => {
      count += 1;
      return { status, headers: [], body: new Uint8Array(bytes) };
    },
    count: () => count,
  };
}

test('a repeat gets the kept answer until the lease expires', async () => {
  const clock = seededClock(START_MS);
  const answers = createKeptAnswers(clock);
  const { make, count } = counting();
  const expiresAtMs = START_MS + 1_000;
  const first = await answers.once('k', expiresAtMs, make);
  assert.equal(await answers.once('k', expiresAtMs, make), first);
  await clock.advance(1_000);
  await answers.once('k', expiresAtMs, make);
  assert.equal(count(), 2);
});

test('a repeat while the first is still being answered waits for it', async () => {
  const answers = createKeptAnswers(seededClock(START_MS));
  const { make, count } = counting();
  const both = await Promise.all([1, 2].map(() => answers.once('k', START_MS + 1_000, make)));
  assert.equal(both[0], both[1]);
  assert.equal(count(), 1);
});

test('a refusal, an oversized answer and a failure are not kept', async () => {
  const answers = createKeptAnswers(seededClock(START_MS));
  for (const [status, bytes] of [
    [409, 1],
    [200, 262_145],
  ] as const) {
    const { make, count } = counting(status, bytes);
    await answers.once(`${status}`, START_MS + 1_000, make);
    await answers.once(`${status}`, START_MS + 1_000, make);
    assert.equal(count(), 2);
  }
  await assert.rejects(
    answers.once('k', START_MS + 1_000, () => Promise.reject(new Error('lost'))),
    /lost/,
  );
  const { make, count } = counting();
  await answers.once('k', START_MS + 1_000, make);
  assert.equal(count(), 1);
});

test('the oldest answer goes when there are too many', async () => {
  const answers = createKeptAnswers(seededClock(START_MS));
  const { make, count } = counting();
  for (let key = 0; key <= 1_024; key += 1) await answers.once(`${key}`, START_MS + 1_000, make);
  await answers.once('1024', START_MS + 1_000, make);
  assert.equal(count(), 1_025);
  await answers.once('0', START_MS + 1_000, make);
  assert.equal(count(), 1_026);
});
