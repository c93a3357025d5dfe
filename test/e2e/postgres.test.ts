/** C-102 on Postgres as an operator runs it: the configuration names a secret, the command line does the rest. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { RunView } from 'caseops';
import pg from 'pg';
import { startPostgres } from '#testing/postgres-cluster.ts';
import { Home } from './command-line.ts';

const QUESTION = 'Find out why C-102 has not been completed and tell me what is missing. Do not notify anybody.';
const CONFIG = { store: { kind: 'postgres', url: 'store-url' }, secrets: { from: 'environment' } } as const;

const cluster = await startPostgres();
after(() => cluster[Symbol.asyncDispose]());

test('the answer comes from Postgres, where every event, lease and consumption is', async () => {
  await using database = await cluster.database();
  using home = new Home({ CASEOPS_STORE_URL: database.url }, CONFIG);
  const looked = home.run('doctor');
  assert.equal(looked.code, 0, looked.stdout);
  assert.match(looked.stdout, /holds\s+store\s+postgres 127\.0\.0\.1:\d+\/caseops_\w+, version 0 of \d+/);
  const asked = home.run('ask', QUESTION, '-o', 'json');
  assert.equal(asked.code, 0, asked.stderr);
  const run = JSON.parse(asked.stdout) as RunView;
  assert.equal(run.result, 'completed');
  assert.ok(run.claims.every((claim) => claim.evidence.length > 0));
  // Another process reads what the first one wrote.
  const shown = home.run('runs', 'show', run.runId, '-o', 'json');
  assert.equal(shown.code, 0, shown.stderr);
  assert.deepEqual((JSON.parse(shown.stdout) as RunView).claims, run.claims);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ readonly kind: string }>(
    'select kind from caseops.event where run_id = $1 order by seq',
    [run.runId],
  );
  await client.end();
  assert.deepEqual([rows[0]?.kind, rows.at(-1)?.kind], ['run.received', 'run.ended']);
});

test('a database that cannot be reached is said with the next step, and the password never', () => {
  const url = new URL(cluster.url);
  url.password = 'wrong-secret';
  using home = new Home({ CASEOPS_STORE_URL: url.href }, CONFIG);
  for (const command of [['doctor'], ['ask', QUESTION]]) {
    const done = home.run(...command);
    assert.notEqual(done.code, 0);
    assert.match(
      done.stdout + done.stderr,
      /postgres 127\.0\.0\.1:\d+\/postgres does not take the password; check the secret/,
    );
    assert.doesNotMatch(done.stdout + done.stderr, /wrong-secret/);
  }
});

test('a secret that is missing, and one that is no address, are named by their setting', () => {
  using none = new Home({}, CONFIG);
  assert.match(none.run('doctor').stdout, /\/store\/url.*a secret called store-url/s);
  using other = new Home({ CASEOPS_STORE_URL: 'db.example, user me' }, CONFIG);
  const done = other.run('doctor');
  assert.match(done.stdout, /is no Postgres URL; expected postgres:\/\/USER/);
  assert.doesNotMatch(done.stdout, /db\.example/);
});
