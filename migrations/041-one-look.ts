import type { Knex } from 'knex';

/**
 * Makes a tick cheaper without enforcing less (decision 118, "A million meters"). A meter's row tells itself when it is
 * next due, and the chain of a wallet is read once, as its row moves: from the entry that it stood at to the newest one.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The first millisecond in which a cent more is due, or the limit. It computes nothing that could overflow: the
    -- look walks all meters each second.
    alter table meters add column due_ms bigint not null generated always as (least(limit_ms,
      running_ms + ((charged_cents + 1) * 3600000 + price_per_hour_cents - 1) / price_per_hour_cents)) stored;

    -- An entry that its wallet does not reach is refused here. One that it reaches stands either between the wallet's
    -- entry of before and its newest one, which wallets_changed walks, or on a number that is taken.
    create or replace function ledger_entries_added() returns trigger language plpgsql
      set enable_nestloop = on set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
    begin
      if exists (
        select 1 from added a left join wallets w on w.id = a.wallet_id where w.seq is null or a.seq > w.seq
      ) then
        raise exception 'ledger chain broken: an entry does not continue its predecessor or its wallet'
          using errcode = 'check_violation', constraint = 'ledger_chain';
      end if;
      return null;
    end $$;

    -- The old rows are joined by hash to the new ones, which keeps the order in which the wallets lie in the ledger's
    -- index. The ledger itself is only ever walked along that index, for each wallet, whatever the planner expects.
    drop trigger wallets_changed on wallets;
    create or replace function wallets_changed() returns trigger language plpgsql
      set enable_nestloop = off set enable_mergejoin = off set enable_seqscan = off as $$
    declare
      chain_broken boolean;
      differs boolean;
    begin
      select bool_or(case when earlier_seq is null then seq <> greatest(old_seq, 1) or (old_seq = 0 and balance <> amount)
                          else seq <> earlier_seq + 1 or balance - amount <> earlier_balance end),
             bool_or(case when seq is null then (old_seq = 0 and new_seq = 0 and total = 0) is not true
                          when later_seq is null then seq <> new_seq or balance <> total end)
        into chain_broken, differs
        from (
          select moved.*, e.seq, e.amount_cents as amount, e.balance_after_cents as balance,
                 lag(e.seq) over chain as earlier_seq, lag(e.balance_after_cents) over chain as earlier_balance,
                 lead(e.seq) over chain as later_seq
            from (
              select changed.id, before.seq as old_seq, changed.seq as new_seq,
                     changed.available_cents + changed.reserved_cents as total
                from changed left join before on before.id = changed.id
            ) moved
            left join lateral (
              select * from ledger_entries
               where wallet_id = moved.id and seq >= old_seq and seq <= new_seq
              offset 0
            ) e on true
          window chain as (partition by moved.id order by e.seq)
        ) walked;
      if chain_broken then
        raise exception 'ledger chain broken: an entry does not continue its predecessor or its wallet'
          using errcode = 'check_violation', constraint = 'ledger_chain';
      elsif differs then
        raise exception 'wallet differs from its newest ledger entry'
          using errcode = 'check_violation', constraint = 'wallet_is_newest_entry';
      end if;
      return null;
    end $$;
    create trigger wallets_changed after update on wallets
      referencing old table as before new table as changed for each statement execute function wallets_changed();

    -- Nobody's temporary tables stand before those that are looked at.
    alter function wallets_changed() set search_path = pg_catalog, public, pg_temp;
    alter function ledger_entries_added() set search_path = pg_catalog, public, pg_temp;

    -- A newest entry that becomes an older one leaves nothing to walk, which is refused.
    drop trigger wallets_seq_shrinks on wallets;
    drop function wallets_seq_shrinks();
  `);
}
