import type { Knex } from 'knex';

/**
 * Wallets and their ledger: the database itself refuses any state that does not add up (decision 26, "End of the
 * money", and decision 28, "Refusals of the database").
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table wallets (
      id bigint generated always as identity primary key,
      user_id text not null unique references users on delete restrict,
      available_cents bigint not null default 0 check (available_cents >= 0),
      reserved_cents bigint not null default 0 check (reserved_cents >= 0),
      -- The sequence number of the newest ledger entry; 0 before the first.
      seq bigint not null default 0 check (seq >= 0),
      -- Since when the money lasts for less than the warning time; null while it lasts longer.
      low_since timestamptz(3),
      metering_blocked_at timestamptz(3),
      metering_blocked_reason text,
      created_at timestamptz(3) not null default clock_ms(),
      check ((metering_blocked_at is null) = (metering_blocked_reason is null))
    ) with (fillfactor = 45);

    create type ledger_entry_type as enum
      ('processor_topup', 'auto_topup', 'rental_charge', 'refund', 'adjustment');

    -- No foreign keys to wallets and rentals: they are checked row by row, and metering writes by the hundred
    -- thousand. The chain trigger below checks the wallet for all rows at once.
    create table ledger_entries (
      wallet_id bigint not null,
      seq bigint not null check (seq > 0),
      type ledger_entry_type not null,
      amount_cents bigint not null,
      balance_after_cents bigint not null check (balance_after_cents >= 0),
      rental_no bigint,
      processor_charge_id text,
      note text,
      created_at timestamptz(3) not null,
      primary key (wallet_id, seq),
      constraint ledger_sign check (case type
        when 'rental_charge' then amount_cents < 0
        when 'adjustment' then amount_cents <> 0
        else amount_cents > 0 end),
      constraint ledger_rental check (type <> 'rental_charge' or rental_no is not null)
    );
    -- Everything but metering is rare: filtering by such a type never walks the ticks.
    create index ledger_entries_rare on ledger_entries (wallet_id, type, seq) where type <> 'rental_charge';

    -- What an entry that is not a tick was written for, once and for all: payment:pi_…, refund:rent_….
    create table ledger_causes (
      cause text primary key,
      wallet_id bigint not null,
      seq bigint not null,
      unique (wallet_id, seq)
    );

    -- The plans of these functions are kept by each session, whatever sizes they were made for: a hash or a merge
    -- join that suited one set would walk the whole ledger for the next. Walking the primary key suits all.
    create function ledger_entries_added() returns trigger language plpgsql
      set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
    begin
      if exists (
        select 1 from added a
          left join ledger_entries p on p.wallet_id = a.wallet_id and p.seq = a.seq - 1
          left join wallets w on w.id = a.wallet_id
        where case when a.seq = 1 then 0 else p.balance_after_cents end
              is distinct from a.balance_after_cents - a.amount_cents
           or w.seq is null or a.seq > w.seq
      ) then
        raise exception 'ledger chain broken: an entry does not continue its predecessor or its wallet'
          using errcode = 'check_violation', constraint = 'ledger_chain';
      end if;
      return null;
    end $$;
    create trigger ledger_entries_added after insert on ledger_entries
      referencing new table as added for each statement execute function ledger_entries_added();

    create function wallets_changed() returns trigger language plpgsql
      set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
    begin
      if exists (
        select 1 from changed w
          left join ledger_entries e on e.wallet_id = w.id and e.seq = w.seq
        where w.available_cents + w.reserved_cents <> case when w.seq = 0 then 0 else coalesce(e.balance_after_cents, -1) end
      ) then
        raise exception 'wallet differs from its newest ledger entry'
          using errcode = 'check_violation', constraint = 'wallet_is_newest_entry';
      end if;
      return null;
    end $$;
    create trigger wallets_changed after update on wallets
      referencing new table as changed for each statement execute function wallets_changed();

    create function wallets_seq_shrinks() returns trigger language plpgsql as $$
    begin
      raise exception 'the newest entry of a wallet never becomes an older one'
        using errcode = 'check_violation', constraint = 'wallet_is_newest_entry';
    end $$;
    create trigger wallets_seq_shrinks before update on wallets
      for each row when (new.seq < old.seq) execute function wallets_seq_shrinks();

    create function wallets_start_empty() returns trigger language plpgsql as $$
    begin
      if new.seq <> 0 or new.available_cents <> 0 or new.reserved_cents <> 0 then
        raise exception 'a wallet starts empty'
          using errcode = 'check_violation', constraint = 'wallet_starts_empty';
      end if;
      return new;
    end $$;
    create trigger wallets_start_empty before insert on wallets
      for each row execute function wallets_start_empty();

    create function append_only() returns trigger language plpgsql as $$
    begin
      raise exception '% is append-only', tg_table_name
        using errcode = 'check_violation', constraint = 'append_only';
    end $$;
    create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
      for each statement execute function append_only();
    create trigger ledger_causes_append_only before update or delete or truncate on ledger_causes
      for each statement execute function append_only();
  `);
}
