/** Deletion from the command line, over the databases of the supervisor and of four teams: real processes, real files. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RetentionReport, RunView, WhyView } from 'caseops';
import { Home } from './command-line.ts';

const QUESTION =
  'Find out why C-102 has not been completed and tell me what is missing. Draft a notice; do not send it.';
const FORGET = ['erase', '--subject', 'member:m42', '--reason', 'The member asked for it.'] as const;

/** Every file of the run stores below the data directory; a team's own records are its own. */
function storedText(directory: string): string {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /(^|\/)(caseops|runs)\.db(-wal)?$|(^|\/)artifacts\//.test(file))
    .map((file) => {
      try {
        return readFileSync(join(directory, file), 'latin1');
      } catch {
        return '';
      }
    })
    .join('\n');
}

test('a member is forgotten here and at the teams: counted, erased, gone from every file, and why says so', async () => {
  using home = new Home();
  let run: RunView;
  {
    await using server = await home.serve();
    assert.ok(server.url);
    run = JSON.parse(home.run('ask', QUESTION, '-o', 'json').stdout) as RunView;
    assert.equal(run.result, 'completed');
    assert.match(storedText(home.directory), /m42/);

    const counted = JSON.parse(home.run(...FORGET, '-o', 'json').stdout) as RetentionReport;
    assert.equal(counted.applied, false);
    assert.deepEqual(
      counted.stores.map(({ store, runCount }) => [store, runCount]),
      [
        ['supervisor', 1],
        ['claims', 1],
        ['knowledge', 1],
        ['member', 1],
        ['notification', 1],
      ],
    );
    assert.match(home.run(...FORGET).stderr, /Nothing was changed/);
    assert.equal(home.run(...FORGET, '--yes', '--as', 'auditor').code, 5);
    const done = home.run(...FORGET, '--yes', '-o', 'json');
    assert.equal(done.code, 0, done.stderr);
    assert.equal((JSON.parse(done.stdout) as RetentionReport).tombstones.length, 5);

    const why = home.run('why', `${run.runId}#missing`, '-o', 'json');
    assert.equal(why.code, 12, why.stdout);
    const [chain] = JSON.parse(why.stdout) as WhyView[];
    assert.deepEqual([chain?.brokenCount, chain?.erasedCount], [0, 1]);
    const shown = home.run('runs', 'show', run.runId);
    assert.match(shown.stdout, /was erased at .* on request, by custodian@t9/);
    assert.doesNotMatch(shown.stdout + home.run('runs', 'ls').stdout, /m42|C-102/);
    // The same question of today is asked anew.
    const again = JSON.parse(home.run('ask', QUESTION, '-o', 'json').stdout) as RunView;
    assert.equal(again.result, 'completed');
    assert.equal(
      (JSON.parse(home.run(...FORGET, '--yes', '-o', 'json').stdout) as RetentionReport).tombstones.length,
      5,
    );
  }
  assert.doesNotMatch(storedText(home.directory), /\bm42\b|accident_report/);
});

test('retention by policy erases what is due, and only with --yes', async () => {
  using home = new Home();
  const run = JSON.parse(home.run('ask', QUESTION, '-o', 'json').stdout) as RunView;
  const none = JSON.parse(home.run('retention', 'run', '--yes', '-o', 'json').stdout) as RetentionReport;
  assert.deepEqual(none.tombstones, [], 'without a policy everything is kept');
  assert.equal((JSON.parse(home.run('runs', 'show', run.runId, '-o', 'json').stdout) as RunView).erased, null);
});
