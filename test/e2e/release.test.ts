/** The release case end to end as a user runs it: four team processes, the one writer, a flag file that flagd evaluates. DESIGN §8.3. */
import { FlagdCore } from '@openfeature/flagd-core';
import type { ApprovalRow, EffectRow, RunView } from 'caseops';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Home, type ServerProcess } from './command-line.ts';

const ASKED =
  'Promote reranker-v17 to 25% traffic. Cite its eval regressions and tell me whether its canary burned error budget in the last hour.';

const home = new Home();
let server: ServerProcess;
before(async () => {
  server = await home.serve('--case', 'release');
});
after(async () => {
  await server[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

const flags = (): string =>
  readFileSync(join(home.directory, 'cases/release/effects/flags/tenant-7.flagd.json'), 'utf8');
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

/** A command's data, and its exit code as expected. */
async function command<T>(code: number, ...args: readonly string[]): Promise<T> {
  const done = await home.start(...args, '-o', 'json').done;
  assert.equal(done.code, code, `${args.join(' ')}: ${done.stderr}${done.stdout}`);
  return JSON.parse(done.stdout) as T;
}

const ask = (code: number, text: string): Promise<RunView> => command(code, 'ask', '--case', 'release', text);

test('INV-12: a promotion waits for its approver, is applied once, and replayed from its first record', async () => {
  const untouched = flags();
  const few = servedCount(untouched);
  const waiting = await ask(9, ASKED);
  assert.equal(waiting.blocked?.code, 'APPROVAL', problems(waiting));
  assert.equal(flags(), untouched, 'something was written before anybody approved');
  const [row] = await command<ApprovalRow[]>(0, 'approvals', 'ls', '--run', waiting.runId);
  assert.ok(row?.state === 'pending');
  assert.equal(row.proposal.action.idempotencyKey, 'promotion:tenant-7:reranker-v17:25:v3');
  const approve = ['approvals', 'approve', row.approvalId, '--digest', row.proposal.actionDigest, '--as'] as const;
  assert.equal((await home.start(...approve, 'requester@tenant-7').done).code, 5, 'who asked approved it');
  await command(0, ...approve, 'approver@tenant-7');
  const first = await command<RunView>(0, 'runs', 'watch', waiting.runId);
  assert.equal(first.result, 'completed', problems(first));
  assert.match(said(first, 'regressions'), /recall@10/);
  assert.match(said(first, 'burn'), /burned 0\.35 of the error budget/);
  assert.match(said(first, 'promoted'), /25 % of the traffic, at version v4/);
  const applied = flags();
  const many = servedCount(applied);
  assert.ok(few < 100 && many > 190 && many < 310, `flagd gave it to ${few}, then to ${many} of 1,000`);

  const second = await command<ApprovalRow>(0, ...approve, 'approver@tenant-7');
  assert.deepEqual([second.state, second.decisions.length], ['spent', 1]);
  const again = await ask(0, ASKED);
  assert.equal(said(again, 'promoted'), said(first, 'promoted'));
  assert.equal(flags(), applied, 'the second approval or the replay wrote again');
  const why = await home.start('why', `${again.runId}#promoted`).done;
  assert.equal(why.code, 0, why.stdout);
  assert.match(why.stdout, /effect ledger[\s\S]*the first record under its key[\s\S]*approved by approver@tenant-7/);

  const moved = await ask(8, 'Promote reranker-v17 version 3 to 30% traffic.');
  assert.match(problems(moved), /ERR_EFFECT_PRECONDITION/);
  const effects = await command<EffectRow[]>(0, 'effects', 'ls');
  assert.deepEqual([effects.length, effects[0]?.state, flags()], [1, 'completed', applied]);
});

test('an unknown release is looked up once, then asked for, and the answer goes on with the step', async () => {
  const asked = await ask(9, 'Promote reranker-v99 to 25% traffic.');
  assert.deepEqual([asked.blocked?.code, asked.blocked?.wants], ['STEP_BLOCKED', 'release_name']);
  assert.match(asked.blocked?.question ?? '', /release\/resolve-release\) asks: There is no release reranker-v99/);
  assert.equal(asked.steps[0]?.attempts.length, 1, 'it was tried again without an answer');
  const answer = ['answer', asked.runId, '--input', 'release_name=reranker-v18'] as const;
  assert.equal((await home.start(...answer, '--as', 'approver').done).code, 5, 'somebody else answered');
  const done = await command<RunView>(8, ...answer);
  assert.equal(done.steps[0]?.status, 'completed', problems(done));
  assert.match(problems(done), /ERR_FINDINGS/, 'reranker-v18 is not well, and its promotion was put before somebody');
});
