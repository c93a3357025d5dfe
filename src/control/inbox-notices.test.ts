import { CaseOpsError, type ErrorRecord } from '#contracts/error.ts';
import type { InboxNotice } from '#ports/inbox.ts';
import { type EffectRuns, effectRuns } from '#testing/effect-runs.ts';
import { createMemoryTarget } from '#testing/memory-effect-target.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notifyInboxes } from './inbox-notices.ts';

async function watched(runs: EffectRuns, down = false) {
  const told: InboxNotice[] = [];
  const errors: ErrorRecord[] = [];
  const inbox = {
    name: 'desk',
    notify: (notice: InboxNotice): Promise<void> => {
      if (down) return Promise.reject(new CaseOpsError('ERR_SERVER_UNREACHABLE', 'Down.', { at: 'desk' }));
      told.push(notice);
      return Promise.resolve();
    },
  };
  const url = 'http://127.0.0.1:1';
  const watch = await notifyInboxes({
    inboxes: [inbox],
    store: runs.store,
    url,
    onError: (error) => errors.push(error),
  });
  return { told, errors, watch };
}

test('an inbox is told of what waits and of what no longer does, once a process each', async () => {
  await using runs = await effectRuns({ targets: (clock) => [createMemoryTarget({ clock })] });
  const { told, watch } = await watched(runs);
  const runId = await runs.open(['D-1']);
  const [row] = await runs.pending(runId);
  assert.ok(row !== undefined);
  await runs.clock.advance(1);
  assert.deepEqual(
    told.map(({ noticeId, role }) => [noticeId, role]),
    [[`${row.approvalId}:requested`, 'approver']],
  );
  assert.equal(told[0]?.title, row.proposal.view.title);
  assert.equal(told[0]?.url, `http://127.0.0.1:1/runs/${runId}`);
  await watch[Symbol.asyncDispose]();
  const next = await watched(runs);
  assert.deepEqual(
    next.told.map(({ noticeId }) => noticeId),
    [`${row.approvalId}:requested`],
    'told again after a restart',
  );
  await runs.approve(row);
  await runs.settle(runId);
  assert.deepEqual(
    next.told.map(({ occasion }) => occasion),
    ['requested', 'closed'],
  );
  await next.watch[Symbol.asyncDispose]();
});

test('an inbox that does not answer holds nothing up, and is reported', async () => {
  await using runs = await effectRuns({ targets: (clock) => [createMemoryTarget({ clock })] });
  const { errors, watch } = await watched(runs, true);
  const runId = await runs.open(['D-1']);
  for (const row of await runs.pending(runId)) await runs.approve(row);
  assert.equal((await runs.settle(runId)).result, 'completed');
  assert.deepEqual([...new Set(errors.map(({ code }) => code))], ['ERR_SERVER_UNREACHABLE']);
  await watch[Symbol.asyncDispose]();
});
