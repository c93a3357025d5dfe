/** C-102 end to end as a user runs it: four team processes, real A2A, MCP, leases and databases. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { RunSummary, RunView, WhyView } from 'caseops';
import { Home, type ServerProcess } from './command-line.ts';

const QUESTION =
  'Find out why C-102 has not been completed and tell me what is missing. If the customer needs to be notified, generate a notification draft first; do not send it directly.';

// One server for what only looks and asks; whoever breaks something has a home of its own.
const shared = new Home();
let server: ServerProcess;
before(async () => {
  server = await shared.serve();
});
after(async () => {
  await server[Symbol.asyncDispose]();
  shared[Symbol.dispose]();
});

const view = (text: string): RunView => JSON.parse(text) as RunView;
const refs = (run: RunView): readonly string[] => run.claims.flatMap((claim) => claim.evidence.map((item) => item.ref));
const said = (run: RunView, key: string): string => run.claims.find((claim) => claim.key === key)?.text ?? '';

test('the answer holds status, gap, reason, next step, draft, and the proof that nothing was sent; each sentence has evidence', () => {
  const home = shared;
  const done = home.run('ask', QUESTION, '-o', 'json');
  assert.equal(done.code, 0, done.stderr);
  const run = view(done.stdout);
  assert.equal(run.result, 'completed');
  assert.deepEqual([...new Set(run.steps.map((step) => step.team))].toSorted(), [
    'claims',
    'knowledge',
    'member',
    'notification',
  ]);
  assert.ok(run.steps.every((step) => step.status === 'completed'));
  assert.ok(run.claims.length >= 6);
  for (const claim of run.claims) assert.ok(claim.evidence.length > 0, `${claim.key} has no evidence`);
  assert.ok(refs(run).includes('claim:C-102@v17'));
  assert.match(said(run, 'status'), /pending_documents/);
  assert.match(said(run, 'missing'), /accident_report/);
  assert.match(said(run, 'reason'), /not assessed before every required document/);
  assert.match(said(run, 'next'), /Assessment resumes/);
  assert.match(said(run, 'draft'), /\bdraft\b/);
  assert.match(said(run, 'not-sent'), /Nothing was sent/);
  const proof = run.claims.find((claim) => claim.key === 'not-sent')?.proof;
  assert.ok(proof?.holds);
  assert.deepEqual([proof.prohibitedByGoal, proof.leaseCountPermitting, proof.effectRowCount], [true, 0, 0]);
  assert.ok(proof.leaseCountExamined >= 4);
  assert.ok(run.goal?.prohibitedActions.includes('notify:send'));
  assert.deepEqual(run.effects, []);

  const whyDone = home.run('why', run.runId, '-o', 'json');
  assert.equal(whyDone.code, 0, whyDone.stderr);
  const chains = JSON.parse(whyDone.stdout) as WhyView[];
  assert.equal(chains.length, run.claims.length);
  for (const chain of chains) {
    assert.ok(chain.holds, `${chain.key}: ${JSON.stringify(chain.branches)}`);
    if (chain.key === 'not-sent') continue;
    for (const branch of chain.branches) {
      const kinds = branch.links.map((link) => link.kind);
      for (const kind of ['claim', 'evidence', 'tool_call', 'worker', 'task', 'lease'] as const)
        assert.ok(kinds.includes(kind), `${chain.key} lacks ${kind}`);
    }
  }
});

test('a planted row in the effect ledger makes the proof fail', () => {
  const home = shared;
  const run = view(home.run('ask', QUESTION, '-o', 'json').stdout);
  const database = new DatabaseSync(join(home.directory, 'caseops.db'));
  const zero = `sha256:${'0'.repeat(64)}`;
  const row = {
    effectId: 'eff_planted',
    tenant: run.tenant,
    runId: run.runId,
    stepId: 's5',
    action: 'notify:send',
    target: 'outbox',
    resource: 'notice-draft:x',
    idempotencyKey: 'k',
    actionDigest: zero,
    contentDigest: zero,
    expectedVersion: null,
    approvalId: 'apv_planted',
    leaseId: 'lse_planted',
    attempt: 1,
    state: 'completed',
    receipt: null,
    artifactRef: null,
    history: [],
    updatedAt: '2026-07-23T09:00:00Z',
  };
  database
    .prepare('insert into effect (tenant, effect_id, run_id, idempotency_key, json) values (?, ?, ?, ?, ?)')
    .run(row.tenant, row.effectId, row.runId, row.idempotencyKey, JSON.stringify(row));
  database.close();
  const why = home.run('why', `${run.runId}#not-sent`, '-o', 'json');
  assert.equal(why.code, 1, why.stderr);
  const [chain] = JSON.parse(why.stdout) as WhyView[];
  assert.equal(chain?.holds, false);
  assert.ok(
    chain.branches
      .flatMap((branch) => branch.links)
      .some((link) => link.kind === 'effect_ledger' && link.verdict === 'Broken'),
  );
});

test('knowledge team not started: degraded within the deadline, facts kept, two steps missing with their impact, nothing sent', () => {
  using home = new Home();
  const done = home.run('ask', QUESTION, '--without', 'knowledge', '-o', 'json');
  assert.equal(done.code, 8, done.stderr);
  const run = view(done.stdout);
  assert.equal(run.result, 'degraded');
  assert.match(said(run, 'status'), /pending_documents/);
  assert.match(said(run, 'missing'), /accident_report/);
  assert.deepEqual(
    run.missingSteps.map((step) => step.stepId),
    ['s3', 's4'],
  );
  for (const step of run.missingSteps)
    assert.ok(step.impact.length > 10 && step.reason.length > 10, JSON.stringify(step));
  assert.ok((run.durationMs ?? Infinity) <= (run.goal?.budget.deadlineMs ?? 0));
  assert.deepEqual(run.effects, []);
});

test('claims team down: failed, and the step is named', () => {
  using home = new Home();
  const done = home.run('ask', QUESTION, '--without', 'claims', '-o', 'json');
  assert.equal(done.code, 8, done.stderr);
  const run = view(done.stdout);
  assert.equal(run.result, 'failed');
  assert.match(run.reason ?? '', /s2/);
});

test("INV-14: an unknown claim is no_data, and another tenant's claim looks exactly the same", () => {
  const home = shared;
  const ask = (id: string) => home.run('ask', `Why has ${id} not been completed? Do not notify anyone.`, '-o', 'json');
  const unknown = ask('C-999');
  const foreign = ask('C-201');
  assert.deepEqual([unknown.code, foreign.code], [12, 12]);
  const shape = (text: string, id: string) => {
    const run = view(text.replaceAll(id, 'C-X'));
    return {
      result: run.result,
      reason: run.reason,
      claims: run.claims.map((claim) => claim.key),
      unsaid: run.unsaid,
      steps: run.steps.map((step) => [step.stepId, step.state, step.status, step.missing, step.errors]),
    };
  };
  assert.deepEqual(shape(unknown.stdout, 'C-999'), shape(foreign.stdout, 'C-201'));
});

test('an unclear text is blocked with its question, and the answer clears it', () => {
  const home = shared;
  const asked = home.run('ask', 'Why is it stuck? Do not send anything.', '-o', 'json');
  assert.equal(asked.code, 9, asked.stderr);
  const blocked = view(asked.stdout);
  assert.equal(blocked.state, 'blocked');
  assert.equal(blocked.blocked?.wants, 'claim_id');
  const done = home.run('answer', blocked.runId, '--input', 'claim_id=C-102', '-o', 'json');
  assert.equal(done.code, 0, done.stderr);
  assert.equal(view(done.stdout).result, 'completed');
});

test('the portfolio has independent steps that run at the same time', () => {
  const home = shared;
  const done = home.run('ask', 'What is the status of claims C-102, C-103 and C-104?', '-o', 'json');
  assert.equal(done.code, 0, done.stderr);
  const run = view(done.stdout);
  const spans = run.steps.map((step) => [Date.parse(step.startedAt ?? ''), Date.parse(step.settledAt ?? '')] as const);
  const overlapping = spans.filter(([start, end], index) =>
    spans.some(([otherStart, otherEnd], other) => other !== index && start < otherEnd && otherStart < end),
  );
  assert.ok(overlapping.length >= 2, JSON.stringify(spans));
  const sum = spans.reduce((total, [start, end]) => total + (end - start), 0);
  assert.ok((run.durationMs ?? Infinity) < sum, `${run.durationMs} ms of wall time, ${sum} ms of steps`);
  const shown = home.run('runs', 'show', run.runId);
  assert.match(shown.stdout, /began.*settled/);
});

test('the knowledge team killed while it works: degraded, facts kept', async () => {
  using home = new Home();
  await using broken = await home.serve();
  const pid = broken.pids.get('knowledge');
  assert.ok(pid);
  process.kill(pid, 'SIGSTOP');
  const asking = home.start('ask', QUESTION, '-o', 'json');
  await until(() => stepState(home, 's3') === 'dispatched');
  process.kill(pid, 'SIGKILL');
  const done = await asking.done;
  assert.equal(done.code, 8, done.stderr);
  const run = view(done.stdout);
  assert.equal(run.result, 'degraded');
  assert.deepEqual(
    run.missingSteps.map((step) => step.stepId),
    ['s3', 's4'],
  );
  assert.match(said(run, 'missing'), /accident_report/);
});

test('kill -9 of the supervisor in mid-run, serve again: the run completes and each step settles once', async () => {
  using home = new Home();
  const first = await home.serve();
  const claims = first.pids.get('claims');
  assert.ok(claims);
  process.kill(claims, 'SIGSTOP');
  const asking = home.start('ask', QUESTION, '-o', 'json');
  await until(() => stepState(home, 's2') === 'dispatched');
  first.child.kill('SIGKILL');
  await asking.done;
  process.kill(claims, 'SIGKILL');
  for (const pid of first.pids.values()) await until(() => !alive(pid));
  await using second = await home.serve();
  assert.match(second.text(), /1 interrupted runs/);
  const [summary] = JSON.parse(home.run('runs', 'ls', '-o', 'json').stdout) as RunSummary[];
  assert.ok(summary);
  const watched = home.run('runs', 'watch', summary.runId, '-o', 'json');
  assert.equal(watched.code, 0, watched.stderr);
  const run = view(watched.stdout);
  assert.equal(run.result, 'completed');
  const settled = eventKinds(home, 'step.settled');
  assert.equal(settled, run.steps.length);
});

/** State of a step of the newest run, read from the store as another process sees it. */
function stepState(home: Home, stepId: string): string | undefined {
  const database = new DatabaseSync(join(home.directory, 'caseops.db'), { readOnly: true });
  try {
    const dispatched = database
      .prepare("select json from event where kind = 'step.dispatched'")
      .all()
      .some((row) => String(row['json']).includes(`"stepId":"${stepId}"`));
    return dispatched ? 'dispatched' : undefined;
  } catch {
    return undefined;
  } finally {
    database.close();
  }
}

function eventKinds(home: Home, kind: string): number {
  const database = new DatabaseSync(join(home.directory, 'caseops.db'), { readOnly: true });
  const count = Number(database.prepare('select count(*) as n from event where kind = ?').get(kind)?.['n']);
  database.close();
  return count;
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('it did not become true in 10 s');
}
