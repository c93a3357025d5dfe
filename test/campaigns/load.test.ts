import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runLoad } from './load.ts';

test('goals of three tenants on a bounded queue: none lost, none doubled, all refusals are 429 with Retry-After', async () => {
  const check = await runLoad({
    goalCounts: { t2: 24, t3: 24, t1: 6 },
    limits: { runsInFlightMax: 9, runsInFlightPerTenantMax: 3, queueLengthMax: 24, goalsPerMinuteMax: 10_000 },
    workMs: 40,
  });
  // How fast the small tenant is served is judged by the campaign, not beside other tests on a busy machine.
  assert.deepEqual(
    check.failures.filter(({ id }) => id !== 'small-tenant-p95'),
    [],
  );
  assert.equal(check.figures['runCount'], 54);
  assert.ok((check.figures['refusalCount'] ?? 0) > 0, 'the queue was full at times');
});
