-- The line of history that a server writes (decision 170, "Witnesses of commits"): its cluster and its timeline. A standby
-- that is promoted and a recovery to a point in time begin another one.
create function database_lineage() returns text
  language sql stable
as $$
  select system_identifier::text || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) from pg_control_system()
$$;

-- Whether this server holds commits that were acknowledged; `positions` are those of the log just before each commit.
-- What lies before the end of what it replayed was replayed, and its transaction is then either committed or lost. What
-- was committed in its own timeline came after that: a process may go on writing here before it speaks.
create function holds_commits(xids xid8[], positions pg_lsn[], timelines text[]) returns boolean
  language sql stable
as $$
  select coalesce(bool_and(case
           when a.position > case when a.timeline = here.timeline then pg_current_wal_insert_lsn()
                                  else coalesce(pg_last_wal_replay_lsn(), pg_current_wal_insert_lsn()) end then false
           when a.xid >= pg_snapshot_xmax(pg_current_snapshot()) then false
           else pg_xact_status(a.xid) = 'committed'
         end), true)
    from unnest(xids, positions, timelines) as a (xid, position, timeline),
         (select left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as timeline) here
$$;

alter table watermark
  -- The line in which it was last confirmed; null before this release.
  add column lineage text,
  -- Since when another line waits for its witnesses.
  add column doubted_at timestamptz(3);

-- The processes that saw commits acknowledged. One that ends in order takes its row along.
create table witnesses (
  id text not null primary key,
  part text not null check (part in ('api', 'worker')),
  -- The line that it last spoke in.
  lineage text not null,
  heard_at timestamptz(3) not null default clock_ms(),
  -- It saw a commit acknowledged that is not here.
  misses boolean not null default false
);
-- The API's role sees no row of others, and changes its own by the functions alone.
grant select, update, delete on witnesses to gpu_rental_worker;
grant select on witnesses to gpu_rental_ops;

-- A process says that it lives, and in a new incarnation whether it misses a commit. Of those that fell silent in the
-- same line nothing is missed: whoever speaks now has seen later commits.
create function bear_witness(
  witness text, of_part text, known text, xids xid8[], positions pg_lsn[], timelines text[])
  returns table (incarnation text, confirmed boolean)
  language plpgsql security definer set search_path to 'pg_catalog', 'public', 'pg_temp'
as $$
  declare
    now_incarnation text := (select database_incarnation(tableoid) from watermark);
    now_lineage text := database_lineage();
    own witnesses;
    is_missing boolean := false;
  begin
    select * into own from witnesses w where w.id = witness;
    if known is not null and known <> now_incarnation then
      is_missing := own.id is null or not holds_commits(xids, positions, timelines)
        -- Only a server that ran then, and replayed since, knows where its line left the other one.
        or (own.lineage <> now_lineage
            and (pg_last_wal_replay_lsn() is null or pg_postmaster_start_time() > own.heard_at));
    end if;
    insert into witnesses as w (id, part, lineage, misses) values (witness, of_part, now_lineage, is_missing)
      on conflict (id) do update
        set lineage = excluded.lineage, heard_at = clock_ms(), misses = w.misses or excluded.misses;
    delete from witnesses w where w.lineage = now_lineage and not w.misses and w.heard_at < clock_ms() - interval '10 s';
    return query select now_incarnation, database_is_confirmed();
  end
$$;

create function end_witness(witness text) returns void
  language sql security definer set search_path to 'pg_catalog', 'public', 'pg_temp'
as $$ delete from witnesses w where w.id = witness and not w.misses $$;

revoke execute on function bear_witness(text, text, text, xid8[], pg_lsn[], text[]), end_witness(text) from public;
grant execute on function bear_witness(text, text, text, xid8[], pg_lsn[], text[]), end_witness(text)
  to gpu_rental_api, gpu_rental_worker;
