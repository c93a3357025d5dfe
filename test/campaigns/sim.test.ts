import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { mergeSitting, type SimReport, total } from './sim-report.ts';
import { runSim } from './sim.ts';

test('seeds of the simulator break nothing, on every core, and repeat', async () => {
  const check = await runSim({ from: 100, seedCount: 60, signing: 'stub' });
  assert.deepEqual(check.failures, []);
  assert.equal(check.ok, true);
  assert.equal(check.figures['seedCount'], 60);
  assert.equal(check.figures['repeatedSeedCount'], 1);
  assert.ok((check.figures['centralRunCount'] ?? 0) >= 60);
});

test('a failing seed is told with the command that plays the smallest part of it again', async () => {
  const check = await runSim({ from: 1, seedCount: 1, signing: 'stub', variant: 'INV-09' });
  assert.equal(check.ok, false);
  assert.equal(check.failures[0]?.id, 'seed 1');
  assert.match(check.failures[0]?.got ?? '', /Replay: npm run -s sim -- --replay 1 --keep p\d --variant INV-09$/);
});

test('sittings add up in the report, and neither another kernel nor the same seeds again do', async () => {
  const first = await runSim({ from: 1, seedCount: 5, signing: 'stub' });
  const second = await runSim({ from: 6, seedCount: 5, signing: 'stub' });
  const report = mergeSitting(mergeSitting(undefined, first), second);
  assert.equal(report.totals.stub.seedCount, 10);
  assert.equal(report.totals.real.seedCount, 0);
  assert.throws(() => mergeSitting(report, second), /in the report already/);
  assert.throws(() => mergeSitting(report, { ...second, from: 11, kernelDigest: 'sha256:other' }), /Begin a new one/);
});

const REPORT = new URL('../../reports/sim.json', import.meta.url);

test('the long campaign that is kept adds up, and nothing was broken in it', () => {
  assert.ok(existsSync(REPORT));
  const kept = JSON.parse(readFileSync(REPORT, 'utf8')) as SimReport;
  assert.equal(kept.ok, true);
  assert.match(kept.kernelDigest, /^sha256:[0-9a-f]{64}$/);
  for (const signing of ['stub', 'real'] as const) {
    assert.deepEqual(kept.totals[signing], total(kept.sittings, signing));
    assert.ok(kept.totals[signing].runCount >= RUN_COUNT_MIN[signing]);
  }
  const ranges = kept.sittings.toSorted((one, other) => one.from - other.from);
  for (const [index, { signing, from, seedCount, violationCount, date }] of ranges.entries()) {
    assert.equal(violationCount, 0);
    assert.ok(seedCount > 0 && !Number.isNaN(Date.parse(date)));
    const after = ranges.slice(index + 1).find((other) => other.signing === signing);
    assert.ok(after === undefined || after.from >= from + seedCount);
  }
});

/** What the kept report must not fall below. */
const RUN_COUNT_MIN = { stub: 5_000, real: 500 };
