import type { Migration } from '../../migration.ts';

/**
 * The hot statements as functions, so that a batch is one statement and one round trip: what it checks and what it writes stand or
 * fall together. Each says first which tenants it is about.
 */
export const statements: Migration = {
  version: 2,
  title: 'a batch of commits in one statement, and the taking of run locks',
  up: `
  -- CO001: a run is not where its decider saw it, or under another fence. CO002: a lease has fewer uses left. CO003: written before.
  create function caseops.write_batch(
    p_writer bigint, p_number bigint, p_tenants text,
    r_tenant text[], r_id text[], r_expected integer[], r_owner text[], r_fence integer[], r_level text[], r_seq integer[],
    r_hash text[], r_phase text[], r_result text[], r_human boolean[], r_kind text[], r_subject text[], r_by text[],
    r_started text[], r_updated text[],
    e_tenant text[], e_run text[], e_seq integer[], e_first integer[], e_prev text[], e_json text[],
    d_tenant text[], d_run text[], d_job text[],
    j_tenant text[], j_run text[], j_job text[], j_todo text[],
    p_records json
  ) returns void language plpgsql as $$
  #variable_conflict use_column
  declare
    v_moved integer;
    v_opened integer;
  begin
    perform set_config('caseops.tenants', p_tenants, true);
    update caseops.batch set number = p_number, written_at = now() where writer = p_writer and number < p_number;
    if not found then
      raise exception 'batch % of writer % was written before', p_number, p_writer using errcode = 'CO003';
    end if;
    if cardinality(r_id) > 0 then
      update caseops.run r
        set seq = n.seq, hash = n.hash, phase = n.phase, result = n.result, needs_human = n.human, kind = n.kind,
            subject = n.subject, updated_at = n.updated
        from unnest(r_tenant, r_id, r_expected, r_owner, r_fence, r_seq, r_hash, r_phase, r_result, r_human, r_kind, r_subject,
               r_updated)
          as n (tenant, id, expected, owner, fence, seq, hash, phase, result, human, kind, subject, updated)
        where n.expected > 0 and r.tenant = n.tenant and r.run_id = n.id and r.seq = n.expected and r.fence = n.fence
          and r.lock_owner = n.owner;
      get diagnostics v_moved = row_count;
      v_opened = 0;
      if 0 = any (r_expected) then
        insert into caseops.run (tenant, run_id, level, seq, hash, phase, result, needs_human, kind, subject, requested_by,
            started_at, updated_at, lock_owner, fence)
          select n.tenant, n.id, n.level, n.seq, n.hash, n.phase, n.result, n.human, n.kind, n.subject, n.by, n.started,
              n.updated, n.owner, n.fence
            from unnest(r_tenant, r_id, r_expected, r_owner, r_fence, r_level, r_seq, r_hash, r_phase, r_result, r_human,
                   r_kind, r_subject, r_by, r_started, r_updated)
              as n (tenant, id, expected, owner, fence, level, seq, hash, phase, result, human, kind, subject, by, started,
                   updated)
            where n.expected = 0;
        get diagnostics v_opened = row_count;
      end if;
      if v_moved + v_opened <> cardinality(r_id) then
        raise exception 'a run was moved on meanwhile' using errcode = 'CO001';
      end if;
    end if;
    if cardinality(e_seq) > 0 then
      insert into caseops.event_batch (tenant, run_id, seq, first_seq, prev, json)
        select * from unnest(e_tenant, e_run, e_seq, e_first, e_prev, e_json);
    end if;
    if cardinality(d_job) > 0 then
      delete from caseops.job j using unnest(d_tenant, d_run, d_job) as n (tenant, run, job)
        where j.tenant = n.tenant and j.run_id = n.run and j.job_id = n.job;
    end if;
    if cardinality(j_job) > 0 then
      insert into caseops.job (tenant, run_id, job_id, todo) select * from unnest(j_tenant, j_run, j_job, j_todo)
        on conflict do nothing;
    end if;
    if p_records is not null then
      perform caseops.write_records(p_records);
    end if;
  end $$;

  create function caseops.write_records(p_records json) returns void language plpgsql as $$
  #variable_conflict use_column
  declare
    v_rows json;
    v_written integer;
  begin
    v_rows = p_records -> 'artifact';
    if v_rows is not null then
      insert into caseops.artifact (tenant, digest, bytes)
        select tenant, digest, decode(bytes, 'base64') from json_to_recordset(v_rows) as n (tenant text, digest text, bytes text)
        on conflict do nothing;
    end if;
    v_rows = p_records -> 'lease';
    if v_rows is not null then
      insert into caseops.lease (tenant, lease_id, run_id, task_id, json)
        select * from json_to_recordset(v_rows) as n (tenant text, lease_id text, run_id text, task_id text, json text);
    end if;
    v_rows = p_records -> 'idempotency';
    if v_rows is not null then
      insert into caseops.idempotency (tenant, scope, key, request_digest, run_id)
        select * from json_to_recordset(v_rows) as n (tenant text, scope text, key text, request_digest text, run_id text);
    end if;
    v_rows = p_records -> 'consumption';
    if v_rows is not null then
      insert into caseops.consumption (tenant, issuer, lease_id, use, request_digest, run_id, expires_at)
        select n.tenant, n.issuer, n.lease_id, stored.count + n.position, n.request_digest, n.run_id, n.expires_at
          from json_to_recordset(v_rows) as n (tenant text, issuer text, lease_id text, position integer, max integer,
                 request_digest text, run_id text, expires_at bigint)
            cross join lateral (select count(*)::integer as count from caseops.consumption c
                 where c.tenant = n.tenant and c.issuer = n.issuer and c.lease_id = n.lease_id) as stored
          where stored.count + n.position < n.max;
      get diagnostics v_written = row_count;
      if v_written <> json_array_length(v_rows) then
        raise exception 'a lease has fewer uses left' using errcode = 'CO002';
      end if;
    end if;
    -- What is over lets its resource go before another takes it.
    v_rows = p_records -> 'effect';
    if v_rows is not null then
      update caseops.effect e set state = n.state, lock = n.lock, updated_at = n.updated_at, json = n.json
        from json_to_recordset(v_rows) as n (tenant text, effect_id text, state text, lock text, updated_at text, json text,
               opening boolean)
        where not n.opening and e.tenant = n.tenant and e.effect_id = n.effect_id;
      insert into caseops.effect (tenant, effect_id, run_id, idempotency_key, state, lock, updated_at, json)
        select tenant, effect_id, run_id, idempotency_key, state, lock, updated_at, json
          from json_to_recordset(v_rows) as n (tenant text, effect_id text, run_id text, idempotency_key text, state text,
                 lock text, updated_at text, json text, opening boolean)
          where opening;
    end if;
    v_rows = p_records -> 'approval';
    if v_rows is not null then
      insert into caseops.approval (tenant, approval_id, run_id, state, requested_at, json)
        select * from json_to_recordset(v_rows) as n (tenant text, approval_id text, run_id text, state text, requested_at text,
            json text)
        on conflict (tenant, approval_id) do update set state = excluded.state, json = excluded.json;
    end if;
  end $$;

  create function caseops.keep_alive(p_owner text, p_now bigint, p_ttl bigint) returns void language sql as $$
    insert into caseops.owner (owner, seen_at, expires_at) values (p_owner, p_now, p_now + p_ttl)
      on conflict (owner) do update set seen_at = excluded.seen_at, expires_at = excluded.expires_at;
  $$;

  -- Locks the row first and looks at its owner then: in one statement a waiting taker would judge by an owner of before.
  create function caseops.take_lock(p_tenant text, p_run text, p_owner text, p_now bigint, p_ttl bigint)
    returns table (fence integer, seen_at bigint) language plpgsql as $$
  #variable_conflict use_column
  declare
    v_fence integer;
    v_holder text;
    v_seen bigint;
    v_expires bigint;
  begin
    perform set_config('caseops.tenants', p_tenant, true);
    select r.fence, r.lock_owner into v_fence, v_holder from caseops.run r
      where r.tenant = p_tenant and r.run_id = p_run for update;
    if not found then
      perform caseops.keep_alive(p_owner, p_now, p_ttl);
      return query select 1, null::bigint;
      return;
    end if;
    select o.seen_at, o.expires_at into v_seen, v_expires from caseops.owner o where o.owner = v_holder;
    if v_holder <> p_owner and coalesce(v_expires, 0) > p_now then
      return;
    end if;
    perform caseops.keep_alive(p_owner, p_now, p_ttl);
    update caseops.run r set lock_owner = p_owner, fence = v_fence + 1, taken_in = null
      where r.tenant = p_tenant and r.run_id = p_run;
    return query select v_fence + 1, v_seen;
  end $$;

  -- What another process is taking at this moment is skipped; what one has taken is seen by the second statement, which looks anew.
  create function caseops.take_open_runs(p_level text, p_owner text, p_call bigint, p_now bigint, p_ttl bigint, p_limit integer)
    returns table (tenant text, run_id text, level text, seq integer, hash text, phase text, result text, needs_human integer,
      kind text, subject text, requested_by text, started_at text, updated_at text, fence integer, seen_at bigint)
    language plpgsql as $$
  #variable_conflict use_column
  declare
    v_tenants text[];
    v_runs text[];
  begin
    perform set_config('caseops.tenants', '*', true);
    perform caseops.keep_alive(p_owner, p_now, p_ttl);
    select array_agg(c.tenant), array_agg(c.run_id) into v_tenants, v_runs from (
      select r.tenant, r.run_id from caseops.run r
        where r.phase <> 'ended' and r.level = p_level and r.lock_owner <> p_owner
          and not exists (select from caseops.owner o where o.owner = r.lock_owner and o.expires_at > p_now)
        order by r.started_at, r.run_id limit p_limit for update of r skip locked) as c;
    if v_runs is null then
      return;
    end if;
    return query
      with free as (
        select r.tenant, r.run_id, o.seen_at from unnest(v_tenants, v_runs) as c (tenant, run_id)
          join caseops.run r on r.tenant = c.tenant and r.run_id = c.run_id
          left join caseops.owner o on o.owner = r.lock_owner
          where coalesce(o.expires_at, 0) <= p_now),
      taken as (
        update caseops.run r set lock_owner = p_owner, fence = r.fence + 1, taken_in = p_call from free f
          where r.tenant = f.tenant and r.run_id = f.run_id
          returning r.tenant, r.run_id, r.level, r.seq, r.hash, r.phase, r.result, r.needs_human::integer as needs_human, r.kind,
            r.subject, r.requested_by, r.started_at, r.updated_at, r.fence, f.seen_at)
      select * from taken order by started_at, run_id;
  end $$;
  `,
  down: `
  drop function caseops.take_open_runs;
  drop function caseops.take_lock;
  drop function caseops.keep_alive;
  drop function caseops.write_batch;
  drop function caseops.write_records;
  `,
};
