/** C-102 asked in Japanese, from the command line to the answer: every sentence in Japanese, and the proof that nothing was sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunView, WhyView } from 'caseops';
import { Home } from './command-line.ts';

const QUESTION =
  'C-102が完了していない理由と、不足しているものを教えてください。顧客への通知が必要な場合は、まず通知文の下書きを作成し、直接送信しないでください。';
const JAPANESE = /[\p{sc=Hiragana}\p{sc=Katakana}]/u;

test('C-102 in Japanese: completed, said in Japanese, with evidence, and provably not sent', async () => {
  using home = new Home();
  await using server = await home.serve();
  assert.ok(server.url);
  const done = home.run('ask', QUESTION, '-o', 'json');
  assert.equal(done.code, 0, done.stderr);
  const run = JSON.parse(done.stdout) as RunView;
  assert.equal(run.result, 'completed');
  assert.equal(run.statement.language, 'ja');
  assert.deepEqual(run.unsaid, []);
  assert.ok(run.claims.length >= 6);
  for (const claim of run.claims) {
    assert.match(claim.text, JAPANESE, claim.key);
    assert.ok(claim.evidence.length > 0, claim.key);
  }
  const said = (key: string): string => run.claims.find((claim) => claim.key === key)?.text ?? '';
  assert.match(said('status'), /請求 C-102 の状態は pending_documents/);
  assert.match(said('missing'), /不足している書類：.*accident_report/);
  assert.match(said('draft'), /通知文を作成しました/);
  assert.match(said('not-sent'), /何も送信されていません/);
  const proof = run.claims.find((claim) => claim.key === 'not-sent')?.proof;
  assert.deepEqual([proof?.holds, proof?.leaseCountPermitting, proof?.effectRowCount], [true, 0, 0]);
  assert.ok(run.goal?.prohibitedActions.includes('notify:send'));

  const shown = home.run('runs', 'show', run.runId);
  assert.match(shown.stdout, /何も送信されていません/);
  const why = JSON.parse(home.run('why', run.runId, '-o', 'json').stdout) as WhyView[];
  assert.equal(why.length, run.claims.length);
  for (const chain of why) assert.ok(chain.holds, chain.key);

  const asked = 'Why is C-102 not completed and what is missing? Draft a notice. Do not send it.';
  const english = home.run('ask', asked, '-o', 'json');
  assert.equal(english.code, 0, english.stderr);
  assert.equal((JSON.parse(english.stdout) as RunView).goal?.digest, run.goal?.digest);

  const unclear = home.run('ask', '不足している書類は何ですか。送らないでください。', '-o', 'json');
  assert.equal(unclear.code, 9, unclear.stderr);
  assert.match((JSON.parse(unclear.stdout) as RunView).blocked?.question ?? '', /どの請求/);
});
