/** A session from the command line: C-102, then what follows from it. Nothing is looked up twice, and every claim leads back to the look. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RunView, WhyView } from 'caseops';
import { Home } from './command-line.ts';

const QUESTION = 'Find out why C-102 has not been completed and tell me what is missing. Do not send anything.';

const view = (text: string): RunView => JSON.parse(text) as RunView;
const said = (run: RunView, key: string): string => run.claims.find((claim) => claim.key === key)?.text ?? '';

test('a follow-up in a session: 0 dispatches, 0 tool calls, each claim backed through to the first run; a changed first log breaks it', async () => {
  using home = new Home();
  await using server = await home.serve();
  const first = view(home.run('ask', QUESTION, '-o', 'json').stdout);
  assert.equal(first.result, 'completed');
  const session = first.sessionId ?? '';

  const asked = home.run('ask', 'What is missing?', '--session', session, '-o', 'json');
  assert.equal(asked.code, 0, asked.stderr);
  const second = view(asked.stdout);
  assert.equal(second.used.toolCallCount, 0);
  assert.equal(second.steps.flatMap(({ attempts }) => attempts).length, 0);
  assert.ok(second.steps.every(({ origin }) => origin?.runId === first.runId));
  assert.equal(said(second, 'missing'), said(first, 'missing'));
  assert.match(said(second, 'not-sent'), /Nothing was sent/);

  const japanese = view(home.run('ask', '不足している書類は何ですか。', '--session', session, '-o', 'json').stdout);
  assert.equal(japanese.used.toolCallCount, 0);
  assert.match(said(japanese, 'missing'), /不足している書類：.*accident_report/);

  const why = home.run('why', second.runId, '-o', 'json');
  assert.equal(why.code, 0, why.stdout);
  for (const chain of JSON.parse(why.stdout) as WhyView[]) {
    assert.ok(chain.holds, chain.key);
    if (chain.key === 'not-sent') continue;
    for (const { links } of chain.branches)
      for (const kind of ['earlier_run', 'record', 'tool_call', 'task', 'lease'] as const)
        assert.ok(
          links.some((link) => link.kind === kind),
          `${chain.key} lacks ${kind}`,
        );
  }
  assert.match(home.run('runs', 'show', second.runId).stdout, new RegExp(`${first.runId}/s2`));
  const key = new URL(/page: (\S+)/.exec(server.text())?.[1] ?? '').search;
  const signedIn = await fetch(`${server.url}/runs/${second.runId}${key}`, { redirect: 'manual' });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const page = await (await fetch(`${server.url}/runs/${second.runId}`, { headers: { cookie } })).text();
  assert.match(page, new RegExp(`Taken over from[\\s\\S]*${first.runId}`));

  const fresh = view(home.run('ask', 'Check again what is missing.', '--session', session, '-o', 'json').stdout);
  assert.ok(fresh.used.toolCallCount > 0);
  assert.ok(fresh.steps.every(({ origin }) => origin === null));
  const other = home.run('ask', 'What is missing?', '--session', session, '--as', 'requester@t8', '-o', 'json');
  assert.equal(view(other.stdout).blocked?.wants, 'claim_id', 'another tenant has no earlier question');

  const database = new DatabaseSync(join(home.directory, 'caseops.db'));
  const tampered = database
    .prepare(
      "update event_batch set json = replace(json, 'claims:read', 'claims:keep') where run_id = ? and json like '%plan.accepted%'",
    )
    .run(first.runId);
  database.close();
  assert.equal(tampered.changes, 1);
  const after = home.run('why', `${second.runId}#missing`, '-o', 'json');
  assert.equal(after.code, 1);
  assert.match(after.stdout, /does not verify/);
});
