import type { Knex } from 'knex';
import { databaseRoles, grant } from './grants.js';

/**
 * Notices a restored database before it moves money (decision 37, "Brakes and the watermark", and decision 67,
 * "Restored databases"). The watermark's row names the incarnation of the database in which it was last compared with
 * Temporal's. Whatever brings an old row back (a restored dump, a recovery to a point in time, a copy of the files, a
 * failover) has another incarnation.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- 'new' until the watermark is first raised; null once the database was found to be behind.
    alter table watermark add confirmed_as text;
    update watermark set confirmed_as = 'new' where value = 0;

    -- The start of the server, the database and the table: at least one differs after every way of restoring.
    create function database_incarnation(watermark_table oid) returns text language sql stable as $$
      select extract(epoch from pg_postmaster_start_time())::text || '/' || d.oid::text || '/' || watermark_table::text
        from pg_database d where d.datname = current_database()
    $$;

    create function database_is_confirmed() returns boolean language sql stable as $$
      select coalesce(bool_or(w.confirmed_as in ('new', database_incarnation(w.tableoid))), false) from watermark w
    $$;

    create function refuse_when_restored() returns trigger language plpgsql as $$
    begin
      if not database_is_confirmed()
         and current_setting('gpu_rental.reconciling', true) is distinct from 'on' then
        raise exception 'this database was restored, or not yet compared with Temporal: % refuses', tg_table_name
          using errcode = 'RS001', hint = 'Look at: npm run ops -- restore status';
      end if;
      return null;
    end $$;

    -- Per statement, whatever the number of rows: a tick of a hundred thousand entries asks once.
    create trigger ledger_entries_when_restored before insert on ledger_entries
      for each statement execute function refuse_when_restored();
    create trigger rentals_when_restored before insert on rentals
      for each statement execute function refuse_when_restored();
    -- Written before each purchase at an upstream.
    create trigger allocation_attempts_when_restored before insert on allocation_attempts
      for each statement execute function refuse_when_restored();

    alter table brakes drop constraint brakes_kind_check;
    alter table brakes add constraint brakes_kind_check
      check (kind in ('creates', 'charges', 'metering', 'restored'));

    -- Machines that a restored database does not know. They are not ended before a human has decided.
    create table unknown_pods (
      provider_code text not null,
      pod_id text not null,
      tag text not null,
      listed_at timestamptz(3) not null default clock_ms(),
      released_at timestamptz(3),
      released_by text,
      released_why text,
      primary key (provider_code, pod_id),
      constraint unknown_pods_released check
        ((released_at is null) = (released_by is null) and (released_at is null) = (released_why is null))
    );

    -- Numbers that were given in the time that is lost went out: in keys at the processor, in ids of mails. They are
    -- never given again.
    create function step_over_lost_numbers() returns void language plpgsql security definer
      set search_path from current as $$
    declare
      counter record;
    begin
      for counter in select schemaname, sequencename, last_value from pg_sequences
                      where schemaname = current_schema() and sequencename not like 'knex%' and last_value is not null
      loop
        perform setval(format('%I.%I', counter.schemaname, counter.sequencename), counter.last_value + 1000000);
      end loop;
    end $$;
  `);
  await knex.raw(`
    revoke execute on function step_over_lost_numbers() from public;
    grant execute on function step_over_lost_numbers() to ${databaseRoles.worker};
  `);
  await grant(knex, {
    // Every process asks whether the database may be written to; the worker compares and pulls the brake.
    watermark: { api: 'select', worker: 'select, update', ops: 'select' },
    brakes: { api: 'select', worker: 'select, insert, delete', ops: 'select' },
    unknown_pods: {
      api: null,
      worker: 'select, insert',
      ops: 'select, update (released_at, released_by, released_why)',
    },
  });
}
