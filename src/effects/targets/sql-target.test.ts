import { seededClock } from '#testing/seeded-clock.ts';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { actionOf, requestOf } from '../suite-target-action.ts';
import type { TargetSubject } from '../suite-target-subject.ts';
import { targetSuite } from '../target-suite.ts';
import { sqlStatements } from './sql-statements.ts';
import { createSqliteSession } from './sqlite-session.ts';
import { openOrders, orderTarget } from './suite-orders.ts';

const unending = new AbortController().signal;
const clock = seededClock(Date.parse('2026-07-23T09:00:00.000Z'));

interface OrderSubject extends TargetSubject {
  readonly database: DatabaseSync;
}

async function orderSubject(): Promise<OrderSubject> {
  const directory = mkdtempSync(join(tmpdir(), 'orders-'));
  const path = join(directory, 'orders.db');
  const database = openOrders(path);
  database.exec("insert into orders values ('t9', 'O-7', 'Old Street 1', 1, 17)");
  const other = openOrders(path);
  return {
    database,
    target: orderTarget(database, clock),
    tenant: 't9',
    resource: 'order:O-7',
    parameters: { address: 'New Street 2', quantity: 2 },
    otherParameters: { address: 'New Street 2', quantity: 3 },
    invalid: [
      {},
      { address: '' },
      { address: 'x', quantity: 0 },
      { address: 'x', quantity: '2' },
      { address: 'x', version: 9 },
    ],
    shown: { name: 'reason', value: 'The customer moved.' },
    // Each applied change moved the version by one; a change that was applied twice would show here.
    effectCount: async (key) => {
      const effect = other.prepare("select count(*) as n from sqlite_schema where name = 'orders_effect'").get() as {
        readonly n: number;
      };
      if (effect.n === 0) return 0;
      const under = other.prepare('select count(*) as n from orders_effect where idempotency_key = ?').get(key);
      const rows = other.prepare("select version from orders where order_id = 'O-7'").get() as { version: number };
      const keys = other.prepare('select count(*) as n from orders_effect').get() as { n: number };
      assert.equal(rows.version - 17 - moved, keys.n, 'the row was changed more or less often than the keys say');
      return (under as { n: number }).n;
    },
    moveVersion: async () => {
      moved += 1;
      other.exec("update orders set address = 'Elsewhere 3', version = version + 1 where order_id = 'O-7'");
    },
    spoil: async () => other.exec("update orders set address = 'Nowhere' where order_id = 'O-7'"),
    hide: async () => database.close(),
    child: { script: new URL('./sql-child.ts', import.meta.url), args: [path] },
    [Symbol.asyncDispose]: async () => {
      moved = 0;
      if (database.isOpen) database.close();
      other.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
let moved = 0;

targetSuite('sql', orderSubject);

test('sql: a row that must not exist yet is created at v1', async () => {
  await using subject = await orderSubject();
  const action = await actionOf({ ...subject, resource: 'order:O-8' });
  assert.equal(action.expectedVersion, null);
  assert.deepEqual(await subject.target.apply(requestOf(action), unending), { outcome: 'applied' });
  assert.deepEqual(await subject.target.read('order:O-8', 't9', unending), {
    version: 'v1',
    record: { address: 'New Street 2', quantity: 2 },
  });
});

test('sql: an expected version that is none of ours is not met', async () => {
  await using subject = await orderSubject();
  for (const expectedVersion of ['17', 'v17.0', "v17' or 1=1", 'v-1', '']) {
    const applied = await subject.target.apply(requestOf(await actionOf(subject, { expectedVersion })), unending);
    assert.equal(applied.outcome, 'precondition_failed', expectedVersion);
  }
  assert.equal((await subject.target.read('order:O-7', 't9', unending)).version, 'v17');
});

test('sql: a change that the table refuses leaves neither the change nor the key', async () => {
  await using subject = await orderSubject();
  subject.database.exec(
    "create trigger no_two before update on orders when new.quantity = 2 begin select raise(abort, 'out of stock'); end",
  );
  const action = await actionOf(subject);
  const applied = await subject.target.apply(requestOf(action), unending);
  assert.ok(applied.outcome === 'refused_before' && applied.retryable);
  assert.match(applied.message, /out of stock/);
  assert.deepEqual(await subject.target.readBack(action.idempotencyKey, action, unending), { found: 'absent' });
  subject.database.exec('drop trigger no_two');
  assert.deepEqual(await subject.target.apply(requestOf(action), unending), { outcome: 'applied' });
});

test('sql: a commit that fails is unknown', async () => {
  await using subject = await orderSubject();
  const { database } = subject;
  const exec = database.exec.bind(database);
  const failing = new Proxy(database, {
    get: (_, name) =>
      name === 'exec'
        ? (sql: string) => {
            exec(sql);
            if (sql === 'commit') throw new Error('disk I/O error');
          }
        : typeof database[name as keyof DatabaseSync] === 'function'
          ? (database[name as keyof DatabaseSync] as () => unknown).bind(database)
          : database[name as keyof DatabaseSync],
  });
  const target = orderTarget(database, clock, { session: createSqliteSession(failing) });
  const action = await actionOf(subject);
  assert.equal((await target.apply(requestOf(action), unending)).outcome, 'unknown');
  assert.equal((await subject.target.readBack(action.idempotencyKey, action, unending)).found, 'applied');
});

test('sql: a database that is gone is said before anything happened, and cannot be read', async () => {
  await using subject = await orderSubject();
  const action = await actionOf(subject);
  subject.database.close();
  const applied = await subject.target.apply(requestOf(action), unending);
  assert.ok(applied.outcome === 'refused_before' && applied.retryable);
  await assert.rejects(subject.target.read('order:O-7', 't9', unending), { code: 'ERR_STORE' });
});

test('sql: a value is never part of a statement', async () => {
  await using subject = await orderSubject();
  const address = "x', version = 99; drop table orders; --";
  const action = await actionOf(subject, { parameters: { address, quantity: 1 } });
  assert.deepEqual(await subject.target.apply(requestOf(action), unending), { outcome: 'applied' });
  assert.deepEqual(await subject.target.read('order:O-7', 't9', unending), {
    version: 'v18',
    record: { address, quantity: 1 },
  });
});

test('sql: parameters without a value for each column are refused', async () => {
  await using subject = await orderSubject();
  const action = { ...(await actionOf(subject)), parameters: { address: 'x' } };
  assert.equal((await subject.target.apply(requestOf(action), unending)).outcome, 'refused_before');
});

test('sql: the same statements number their values for Postgres', () => {
  const table = { name: 'orders', idColumn: 'order_id', versionColumn: 'version', columns: ['address', 'quantity'] };
  assert.equal(
    sqlStatements(table, 'postgres').updateRow,
    'update orders set address = $1, quantity = $2, version = version + 1 where tenant = $3 and order_id = $4 and version = $5',
  );
  assert.equal(
    sqlStatements(table, 'postgres').insertRow,
    'insert into orders (tenant, order_id, address, quantity, version) values ($1, $2, $3, $4, 1) on conflict do nothing',
  );
  for (const name of ['Orders', 'orders; drop table x', 'or-ders', '', '1st'])
    assert.throws(() => sqlStatements({ ...table, name }, 'sqlite'), { code: 'ERR_CONFIG' });
});
