import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import pg from 'pg';
import { startPostgres } from './postgres-cluster.ts';

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ readonly one: number }>('select 1 as one');
    return rows[0]?.one === 1;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

test('a throw-away cluster answers, keeps its data over a restart, and is gone afterwards', async () => {
  let url: string;
  {
    await using cluster = await startPostgres({});
    url = cluster.url;
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('create table kept as select 7 as number');
    await cluster.restart();
    assert.ok(await answers(url));
    await assert.rejects(client.query('select 1'), 'the restart cut this connection');
    const again = new pg.Client({ connectionString: url });
    await again.connect();
    assert.deepEqual((await again.query('select number from kept')).rows, [{ number: 7 }]);
    await again.end();
    await cluster.stop();
    assert.equal(await answers(url), false);
    await cluster.start();
    assert.ok(await answers(url));
  }
  assert.equal(await answers(url), false);
});

test('a cluster ends with its process, also when that is killed', async () => {
  const child = spawn(
    process.execPath,
    [...process.execArgv, new URL('./postgres-cluster-child.ts', import.meta.url).pathname],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  assert.ok(await answers(url));
  child.kill('SIGKILL');
  for (let round = 0; round < 100 && (await answers(url)); round++) await pause(50);
  assert.equal(await answers(url), false);
});

test('PG_URL names the server to use, which is never stopped', async () => {
  await using cluster = await startPostgres({ PG_URL: 'postgres://somebody@db.example/caseops' });
  assert.equal(cluster.url, 'postgres://somebody@db.example/caseops');
  assert.equal(cluster.ours, false);
  await assert.rejects(cluster.restart(), { code: 'ERR_STORE' });
});
