import assert from 'node:assert/strict';
import { test } from 'node:test';
import { artifact as artifactSchema } from '#contracts/artifact.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { digestOf } from '#kernel/digest.ts';
import type { WorkerResult } from '#ports/team-definition.ts';
import { getClaim, NOW, pending, reading, setStatus, type Claim } from '#testing/claim-desk.ts';
import { errorOf, outcomeOf, workerWorld } from '#testing/worker-world.ts';

test('an artifact binds the worker’s data to the record version that its call observed', async () => {
  const { running, authority } = await workerWorld();
  const outcome = await running;
  assert(outcome.ok);
  const { artifact } = outcome;
  assert.ok(artifactSchema.safeParse(artifact).success);
  const [evidence] = artifact.evidence;
  assert(evidence !== undefined);
  assert.equal(`${evidence.anchor}@${evidence.version}`, 'claim:C-102@v17');
  assert.deepEqual(artifact.records[evidence.evidenceId], pending.data);
  assert.equal(evidence.digest, digestOf(pending.data));
  assert.equal(evidence.callId, artifact.toolCalls[0]?.callId);
  assert.equal(artifact.toolCalls[0]?.outcome, 'ok');
  const { contentDigest, ...rest } = artifact;
  assert.equal(contentDigest, digestOf(rest));
  assert.equal(outcome.usage.toolCallCount, 1);
  assert.deepEqual(authority.exchanged[0]?.detail.bounds, { claim_id: { exact: 'C-102' } });
});

test('nothing found is no_data, which needs neither data nor evidence', async () => {
  const outcome = await outcomeOf({ records: [] });
  assert(outcome.ok);
  assert.equal(outcome.artifact.status, 'no_data');
  assert.equal('data' in outcome.artifact, false);
});

test('a worker that must be told something ends with its question and the input it is for, and is not tried again by itself', async () => {
  const outcome = await outcomeOf({
    run: () => Promise.resolve({ status: 'blocked', question: 'Which claim is meant?', wants: 'claim_id' }),
  });
  assert(!outcome.ok);
  const { code, message, retryable, detail } = outcome.error;
  assert.deepEqual(
    [code, message, retryable, detail],
    ['ERR_STEP_BLOCKED', 'Which claim is meant?', false, { wants: 'claim_id' }],
  );
});

test('the same record version observed twice is one piece of evidence', async () => {
  const outcome = await outcomeOf({
    run: async ({ claim_id }, context) => {
      const [first] = await context.call(getClaim, { claim_id });
      const [second] = await context.call(getClaim, { claim_id });
      assert(first !== undefined && second !== undefined);
      return { status: 'completed', data: first.record, evidence: [first.evidence, second.evidence] };
    },
  });
  assert(outcome.ok);
  assert.equal(outcome.artifact.evidence.length, 1);
  assert.equal(outcome.artifact.toolCalls.length, 2);
});

test('an unknown throw of a worker becomes an error that does not tell its text', async () => {
  const outcome = await outcomeOf({
    run: () => {
      throw new TypeError('password=hunter2');
    },
  });
  assert(!outcome.ok);
  assert.equal(outcome.error.code, 'ERR_TEAM_FAILED');
  assert.doesNotMatch(JSON.stringify(outcome.error), /hunter2/u);
});

test('a worker that does not look at its signal is cut off, and its later calls reach no tool', async () => {
  const stop = new AbortController();
  const released = Promise.withResolvers<void>();
  let late: Promise<unknown> = Promise.resolve();
  const { running, toolHost } = await workerWorld(
    {
      run: (input, context) => {
        late = released.promise.then(() => reading(input, context));
        late.catch(() => undefined);
        return late as Promise<WorkerResult<Claim>>;
      },
    },
    stop.signal,
  );
  stop.abort();
  assert.equal(errorOf(await running), 'ERR_CANCELLED');
  released.resolve();
  await assert.rejects(late, { code: 'ERR_CANCELLED' });
  assert.equal(toolHost.calls.length, 0);
});

test('a worker whose time is over does not start', async () => {
  const outcome = await outcomeOf({ dispatch: { deadlineAt: NOW } });
  assert.equal(errorOf(outcome), 'ERR_DEADLINE');
});

test('an issuer that refuses ends the step with its reason', async () => {
  const { running, toolHost } = await workerWorld({
    dispatch: { actions: ['claims:read'] },
    run: async (_input, context) => {
      await context.call(setStatus, { claim_id: 'C-102' });
      throw new CaseOpsError('ERR_TEAM_FAILED', 'unreachable', { at: 'worker' });
    },
  });
  assert.equal(errorOf(await running), 'ERR_POLICY');
  assert.equal(toolHost.calls.length, 0);
});
