/** The commits that a run needs and nothing else: a head and a row of bytes each, those of many runs in one transaction. */
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Engine } from './engine.ts';

export interface Needs {
  readonly commitCount: number;
  readonly bytes: number;
}

interface Row {
  readonly run: number;
  readonly seq: number;
}

/** On a file beside the one that is compared. */
export function bareSqlite(path: string, needs: Needs): Engine {
  const db = new DatabaseSync(path);
  db.exec(`pragma journal_mode = wal; pragma synchronous = full;
    create table head (run integer primary key, seq integer) strict;
    create table event (run integer, seq integer, json text, primary key (run, seq)) strict`);
  const head = db.prepare('insert into head values (?, ?) on conflict do update set seq = excluded.seq');
  const event = db.prepare('insert into event values (?, ?, ?)');
  const [begin, end] = [db.prepare('begin immediate'), db.prepare('commit')];
  const json = jsonOf(needs);
  const write = async (rows: readonly Row[]): Promise<void> => {
    begin.run();
    for (const { run, seq } of rows) {
      head.run(run, seq);
      event.run(run, seq, json);
    }
    end.run();
  };
  return engine(needs, { write, writerCount: 1, close: async () => db.close() });
}

/** In tables of its own, by as many writers as the store has. */
export async function barePostgres(url: string, needs: Needs): Promise<Engine> {
  const writerCount = 2;
  const pool = new pg.Pool({ connectionString: url, max: writerCount });
  await pool.query(`drop table if exists bare_head, bare_event;
    create table bare_head (run bigint primary key, seq int) with (fillfactor = 70);
    create table bare_event (run bigint, seq int, json text, primary key (run, seq))`);
  const text = `with row as (select * from unnest($1::bigint[], $2::int[]) as t (run, seq)),
    head as (insert into bare_head select run, seq from row on conflict (run) do update set seq = excluded.seq)
    insert into bare_event select run, seq, $3 from row`;
  const json = jsonOf(needs);
  const write = async (rows: readonly Row[]): Promise<void> => {
    const values = [rows.map(({ run }) => run), rows.map(({ seq }) => seq), json];
    await pool.query({ name: 'bare', text, values });
  };
  return engine(needs, { write, writerCount, close: () => pool.end() });
}

const jsonOf = ({ bytes, commitCount }: Needs): string =>
  JSON.stringify({ body: 'x'.repeat(Math.ceil(bytes / commitCount)) });

/** Group commit as the stores have it: what waits when a writer is free is one transaction. */
function engine(
  { commitCount }: Needs,
  by: {
    readonly write: (rows: readonly Row[]) => Promise<void>;
    readonly writerCount: number;
    readonly close: () => Promise<void>;
  },
): Engine {
  let nextRun = 0;
  let busyCount = 0;
  let waiting: { readonly row: Row; readonly done: () => void; readonly failed: (error: unknown) => void }[] = [];
  const flush = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    busyCount++;
    try {
      await by.write(batch.map(({ row }) => row));
      for (const { done } of batch) done();
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
    busyCount--;
    arm();
  };
  const arm = (): void => void (busyCount < by.writerCount && waiting.length > 0 && setImmediate(() => void flush()));
  const commit = (row: Row): Promise<void> =>
    new Promise((done, failed) => {
      waiting.push({ row, done, failed });
      if (waiting.length === 1) arm();
    });
  return {
    once: async () => {
      const run = nextRun++;
      for (let seq = 1; seq <= commitCount; seq++) await commit({ run, seq });
    },
    [Symbol.asyncDispose]: by.close,
  };
}
