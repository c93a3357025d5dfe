import type { Migration } from '../../migration.ts';

/** The events of one commit in one row. */
export const eventBatches: Migration = {
  version: 4,
  title: 'the events of one commit in one row',
  up: `
  -- A table with row ids grows at its end: a commit touches few pages, however many runs it is of.
  create table event_batch (
    tenant text not null,
    run_id text not null,
    -- Of its last event.
    seq integer not null,
    first_seq integer not null,
    -- The hash before its first event.
    prev text not null,
    -- An array of events without tenant, runId, seq and prev.
    json text not null,
    primary key (tenant, run_id, seq)
  ) strict;
  insert into event_batch (tenant, run_id, seq, first_seq, prev, json)
    select tenant, run_id, seq, seq, json ->> '$.prev',
      json_array(json(json_remove(json, '$.tenant', '$.runId', '$.seq', '$.prev')))
    from event order by tenant, run_id, seq;
  drop table event;

  -- For who looks into the file: one row an event.
  create view event as
    select tenant, run_id, first_seq + key as seq, value ->> '$.kind' as kind, value ->> '$.at' as at, value as json,
      value ->> '$.hash' as hash
    from event_batch, json_each(event_batch.json);
  `,
  down: `
  create table event_3 (
    tenant text not null,
    run_id text not null,
    seq integer not null,
    kind text not null,
    at text not null,
    json text not null,
    hash text not null,
    primary key (tenant, run_id, seq)
  ) strict, without rowid;
  insert into event_3 (tenant, run_id, seq, kind, at, json, hash)
    select tenant, run_id, seq, kind, at,
      json_set(json, '$.tenant', tenant, '$.runId', run_id, '$.seq', seq,
        '$.prev', coalesce(lag(hash) over (partition by tenant, run_id order by seq), '')),
      hash
    from event;
  drop view event;
  drop table event_batch;
  alter table event_3 rename to event;
  `,
};
