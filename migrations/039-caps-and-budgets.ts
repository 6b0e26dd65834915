import type { Knex } from 'knex';
import { grant } from './grants.js';

/** Holds API keys to their caps, and adds the monthly budget of an account (decision 109, "Caps and budgets"). */
export async function up(knex: Knex): Promise<void> {
  await caps(knex);
  await budgets(knex);
  await addKinds(knex);
  await grant(knex, {
    budgets: { api: 'select, insert, update', worker: 'select, update (looked_at)', ops: 'select' },
    budget_alerts: { api: 'select', worker: 'select, insert, delete', ops: 'select' },
  });
}

async function caps(knex: Knex): Promise<void> {
  await knex.raw(`
    create index rentals_unsettled on rentals (user_id) where settled_at is null;

    -- A rental stays with the key that opened it: what it costs was taken out of that key's cap.
    create function rentals_key_stays() returns trigger language plpgsql as $$
    begin
      raise exception 'the rental % stays with the key that opened it', old.id
        using errcode = 'restrict_violation', constraint = 'rentals_key_stays';
    end $$;
    create trigger rentals_key_stays before update of api_key_id on rentals
      for each row when (old.api_key_id is distinct from new.api_key_id) execute function rentals_key_stays();

    -- Whoever opens, changes or settles a rental of a key writes the key's sums in the same transaction: at its end, what
    -- the key has reserved is what its open rentals may cost, and none of a capped key may cost anything.
    create function api_keys_reserve() returns trigger language plpgsql as $$
    declare
      k api_keys;
      may_cost bigint;
      unlimited bigint;
    begin
      if tg_table_name = 'rentals' then
        select * into k from api_keys where id = new.api_key_id;
      else
        select * into k from api_keys where id = new.id;
      end if;
      select coalesce(sum(max_spend_cents), 0), count(*) filter (where max_spend_cents is null)
        into may_cost, unlimited
        from rentals where user_id = k.user_id and api_key_id = k.id and settled_at is null;
      if k.reserved_cents is distinct from may_cost then
        raise exception '% reserves % cents, and its rentals may cost %', k.id, k.reserved_cents, may_cost
          using errcode = 'check_violation', constraint = 'api_keys_reserve';
      end if;
      if k.spend_cap_cents is not null and unlimited > 0 then
        raise exception '% has a cap, and a rental without a limit', k.id
          using errcode = 'check_violation', constraint = 'api_keys_limits';
      end if;
      return null;
    end $$;
    -- Metering writes none of these columns.
    create constraint trigger rentals_reserve after insert or update of max_spend_cents, settled_at on rentals
      deferrable initially deferred for each row when (new.api_key_id is not null) execute function api_keys_reserve();
    create constraint trigger api_keys_reserve after update of reserved_cents, spend_cap_cents on api_keys
      deferrable initially deferred for each row execute function api_keys_reserve();

    -- What was spent is never given back.
    create function api_keys_spent() returns trigger language plpgsql as $$
    begin
      raise exception '% has spent % cents already', old.id, old.spent_cents
        using errcode = 'restrict_violation', constraint = 'api_keys_spent';
    end $$;
    create trigger api_keys_spent before update of spent_cents on api_keys
      for each row when (new.spent_cents < old.spent_cents) execute function api_keys_spent();

    -- A key with a cap sees the quotes that it asked for.
    alter table quotes add column api_key_id text check (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$');
  `);
}

async function budgets(knex: Knex): Promise<void> {
  await knex.raw(`
    create table budgets (
      user_id text primary key references users on delete restrict,
      -- What the rentals of one month in UTC may cost in all; null: no budget.
      monthly_cents bigint check (monthly_cents between 1 and 1000000000),
      -- Whether nothing is opened that does not fit; else its user is told only.
      hard boolean not null default false,
      changed_at timestamptz(3) not null default clock_ms(),
      -- Up to when the worker knows what was spent; null: it has not looked yet.
      looked_at timestamptz(3),
      constraint budgets_hard check (monthly_cents is not null or not hard)
    );
    create index budgets_set on budgets (user_id) where monthly_cents is not null;

    -- What users were told about their budgets: once a month for each share.
    create table budget_alerts (
      user_id text not null references users on delete restrict,
      -- In UTC, such as 2026-11.
      month text not null check (month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
      percent int not null check (percent between 1 and 100),
      monthly_cents bigint not null,
      spent_cents bigint not null,
      told_at timestamptz(3) not null default clock_ms(),
      primary key (user_id, month, percent)
    );
    create index budget_alerts_age on budget_alerts (told_at);
  `);
}

/** Adds a kind of notices and of audited actions to those that there are, whichever they are by now. */
async function addKinds(knex: Knex): Promise<void> {
  for (const [table, kind] of [
    ['audit_events', 'budget_changed'],
    ['user_notices', 'budget_reached'],
  ]) {
    await knex.raw(`
      do $$ begin
        execute (
          select 'alter table ${table} drop constraint ${table}_kind_check, add constraint ${table}_kind_check check ('
                 || pg_get_expr(conbin, conrelid) || ' or kind = ''${kind}'')'
            from pg_constraint where conname = '${table}_kind_check' and conrelid = '${table}'::regclass);
      end $$;
    `);
  }
}
