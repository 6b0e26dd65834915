import type { Knex } from 'knex';

/**
 * Lets a wallet that differs from its ledger be marked (decision 29, "Broken wallets"), and lets engines of the release
 * before write to meters at their pace (decision 126, "Meters that are not written").
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A wallet whose money and number stay is not looked at: what was wrong before is not made right by refusing the
    -- mark that keeps it from moving on.
    create or replace function wallets_changed() returns trigger language plpgsql
      set enable_nestloop = off set enable_mergejoin = off set enable_seqscan = off
      set search_path = pg_catalog, public, pg_temp as $$
    declare
      chain_broken boolean;
      gaps boolean;
      differs boolean;
    begin
      select bool_or(case when seq = old_seq then false
                          when seq = 1 then balance <> amount
                          else balance - amount is distinct from earlier_balance end),
             coalesce(sum(case when seq = new_seq then new_seq - greatest(old_seq, 1) + 1 end), 0) <> count(seq),
             count(*) filter (where case when seq = new_seq then balance = total
                                         when seq is null then (old_seq is not null and from_seq is null)
                                                               or (old_seq = 0 and new_seq = 0 and total = 0) end)
               <> (select count(*) from changed)
        into chain_broken, gaps, differs
        from (
          select moved.*, e.seq, e.amount_cents as amount, e.balance_after_cents as balance,
                 lag(e.balance_after_cents) over chain as earlier_balance
            from (
              select changed.id, before.seq as old_seq, changed.seq as new_seq,
                     changed.available_cents + changed.reserved_cents as total,
                     -- null: nothing is walked.
                     case when before.seq <> changed.seq or before.available_cents <> changed.available_cents
                            or before.reserved_cents <> changed.reserved_cents then before.seq end as from_seq
                from changed left join before on before.id = changed.id
            ) moved
            left join lateral (
              select * from ledger_entries
               where wallet_id = moved.id and seq >= from_seq and seq <= new_seq
              offset 0
            ) e on true
          -- Without the frame each row's peers would be looked for.
          window chain as (partition by moved.id order by e.seq rows between unbounded preceding and current row)
        ) walked;
      if chain_broken then
        raise exception 'ledger chain broken: an entry does not continue its predecessor or its wallet'
          using errcode = 'check_violation', constraint = 'ledger_chain';
      elsif differs then
        raise exception 'wallet differs from its newest ledger entry'
          using errcode = 'check_violation', constraint = 'wallet_is_newest_entry';
      elsif gaps then
        raise exception 'ledger chain broken: a number is missing before the newest entry'
          using errcode = 'check_violation', constraint = 'ledger_chain';
      end if;
      return null;
    end $$;

    -- A tick of the release before writes each meter, with nested loops off: each write would read all wallets.
    alter function meters_read() set enable_nestloop = on;
  `);
}
