/** The release case end to end as it is deployed: four team processes, the one writer, a flag file that flagd evaluates. DESIGN §8.3. */
import { FlagdCore } from '@openfeature/flagd-core';
import { createCaseOps, type CaseOps, type RunView } from 'caseops';
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { releaseCase } from '../../cases/release/case.ts';

const ASKED =
  'Promote reranker-v17 to 25% traffic. Cite its eval regressions and tell me whether its canary burned error budget in the last hour.';
const REQUESTER = 'requester@tenant-7';
const APPROVER = 'approver@tenant-7';

const directory = mkdtempSync(join(tmpdir(), 'caseops-release-'));
let system: CaseOps;
before(async () => {
  system = await createCaseOps({ case: releaseCase, directory, config: false });
});
after(async () => {
  await system[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

const flags = (): string => readFileSync(join(directory, 'effects/flags/tenant-7.flagd.json'), 'utf8');
const said = (run: RunView, key: string): string => run.claims.find((claim) => claim.key === key)?.text ?? '';
const problems = (run: RunView): string => JSON.stringify([run.reason, run.steps.flatMap(({ errors }) => errors)]);

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** How many of 1,000 users flagd gives the release. */
function servedCount(text: string): number {
  const core = new FlagdCore(undefined, SILENT);
  core.setConfigurations(text);
  const on = (user: number): boolean =>
    core.resolveBooleanEvaluation('reranker-v17', false, { targetingKey: `user-${user}` }).value;
  return Array.from({ length: 1_000 }, (_, user) => on(user)).filter(Boolean).length;
}

async function ask(text: string): Promise<RunView> {
  const { desk } = system;
  const grant = system.grantOf(REQUESTER);
  const request = { text, language: undefined, sessionId: undefined, idempotencyKey: undefined };
  const { view } = await desk.submit(grant, request);
  return desk.settled(grant, view.runId, AbortSignal.timeout(60_000));
}

async function approve(waiting: RunView, account = APPROVER): Promise<void> {
  const grant = system.grantOf(account);
  const [row] = await system.desk.approvals(grant, { state: undefined, runId: waiting.runId, limit: 10 });
  assert.ok(row);
  await system.desk.decide(grant, {
    approvalId: row.approvalId,
    digest: row.proposal.actionDigest,
    disposition: 'approved',
    reason: null,
    evidenceInView: undefined,
    channel: 'cli',
  });
}

const ended = async ({ runId }: RunView): Promise<RunView> => {
  const grant = system.grantOf(REQUESTER);
  for (;;) {
    const view = await system.desk.settled(grant, runId, AbortSignal.timeout(60_000));
    if (view.state === 'ended') return view;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

test('a promotion waits for its approver, is applied once, and replayed from its first record', async () => {
  const untouched = flags();
  const few = servedCount(untouched);
  const waiting = await ask(ASKED);
  assert.equal(waiting.blocked?.code, 'APPROVAL', problems(waiting));
  assert.equal(flags(), untouched, 'something was written before anybody approved');
  await assert.rejects(approve(waiting, REQUESTER), { code: 'ERR_APPROVER' });
  await approve(waiting);
  const first = await ended(waiting);
  assert.equal(first.result, 'completed', problems(first));
  assert.match(said(first, 'regressions'), /recall@10/);
  assert.match(said(first, 'burn'), /burned 0\.35 of the error budget/);
  assert.match(said(first, 'promoted'), /25 % of the traffic, at version v4/);
  assert.deepEqual(
    first.effects.map(({ state }) => state),
    ['completed'],
  );
  const applied = flags();
  const many = servedCount(applied);
  assert.ok(few < 100 && many > 190 && many < 310, `flagd gave it to ${few}, then to ${many} of 1,000`);

  await approve(waiting);
  const again = await ask(ASKED);
  assert.equal(again.result, 'completed', problems(again));
  assert.equal(said(again, 'promoted'), said(first, 'promoted'));
  assert.equal(flags(), applied, 'the second approval or the replay wrote again');

  const moved = await ask('Promote reranker-v17 version 3 to 30% traffic.');
  assert.equal(moved.result, 'failed', problems(moved));
  assert.match(problems(moved), /ERR_EFFECT_PRECONDITION/);
  assert.equal(flags(), applied);
});

test('an unknown release is looked up once, then asked for, and the answer goes on with the step', async () => {
  const asked = await ask('Promote reranker-v99 to 25% traffic.');
  assert.deepEqual(
    [asked.state, asked.blocked?.code, asked.blocked?.wants],
    ['blocked', 'STEP_BLOCKED', 'release_name'],
  );
  assert.match(asked.blocked?.question ?? '', /release\/resolve-release\) asks: There is no release reranker-v99/);
  assert.equal(asked.steps[0]?.attempts.length, 1, 'it was tried again without an answer');
  const grant = system.grantOf(REQUESTER);
  await assert.rejects(system.desk.answer(system.grantOf(APPROVER), asked.runId, { release_name: 'reranker-v17' }), {
    code: 'ERR_DENIED',
  });
  await system.desk.answer(grant, asked.runId, { release_name: 'reranker-v18' });
  const done = await ended(asked);
  assert.equal(done.steps[0]?.status, 'completed', problems(done));
  assert.match(problems(done), /ERR_FINDINGS/, 'reranker-v18 is not well');
});
