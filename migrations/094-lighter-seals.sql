-- Sealing at less processor time (decision 139, "Seals of the ledger"): each row of a seal is read once to make it, once to
-- take it, and compared as it lies beside its neighbour. Seals, hashes and what is refused stay as they were.

-- What the seal of these entries must be, made from their rows. A run that has a gap tells no balances, and no seal is made
-- of it.
create or replace function seal_of(of_wallet bigint, from_seq bigint, to_seq bigint)
 returns ledger_seals
 language plpgsql stable
as $function$
  declare
    s ledger_seals;
    amounts bigint[];
    balances bigint[];
    instants bigint[];
    nos bigint[];
    gaps bigint[];
    widest_amount bigint;
    widest_gap bigint;
  begin
    s.wallet_id := of_wallet;
    s.first_seq := from_seq;
    s.last_seq := to_seq;
    select array_agg(amount_cents), array_agg(balance_after_cents), array_agg(ms), array_agg(no), max(abs(amount_cents))
      into amounts, balances, instants, nos, widest_amount
      from (select amount_cents, balance_after_cents, epoch_ms(created_at) as ms,
                   case when type = 'rental_charge' then rental_no end as no
              from ledger_rows
             where wallet_id = of_wallet and seq between from_seq and to_seq
             order by seq) e;
    if cardinality(amounts) = to_seq - from_seq + 1 then
      s.opening_cents := balances[1] - amounts[1];
      s.closing_cents := balances[cardinality(balances)];
      s.first_ms := instants[1];
    end if;
    select coalesce(array_agg(no order by place), '{}'), coalesce(array_agg(entries order by place), '{}'),
           coalesce(array_agg(cents order by place), '{}'), coalesce(array_agg(earliest order by place), '{}'),
           coalesce(array_agg(latest order by place), '{}')
      into s.rental_nos, s.rental_entries, s.rental_cents, s.rental_earliest_ms, s.rental_latest_ms
      from (select no, count(*)::int as entries, bigint_sum(amount) as cents, min(ms) as earliest, max(ms) as latest,
                   min(n) as place
              from unnest(nos, amounts, instants) with ordinality as e (no, amount, ms, n)
             where no is not null group by no) by_rental;
    s.places := (select array_agg(coalesce(array_position(s.rental_nos, no), 0)) from unnest(nos) no);
    select array_agg(gap), max(abs(gap)) into gaps, widest_gap
      from (select coalesce(instants[n] - instants[n - 1], 0) as gap from generate_subscripts(instants, 1) n) gapped;
    if widest_gap <= 2147483647 then s.gaps_ms := gaps; else s.wide_gaps_ms := gaps; end if;
    if widest_amount <= 2147483647 then s.amounts_cents := amounts; else s.wide_amounts_cents := amounts; end if;
    return s;
  end
$function$;

-- A row of the ledger goes only if a seal holds it, and never a wallet's newest entry. Its balance and its instant are
-- compared with those of the row before it, which goes as well, and where there is none with what the seal tells.
create or replace function ledger_entries_gone()
 returns trigger
 language plpgsql
 set enable_hashjoin to 'off'
 set enable_mergejoin to 'off'
 set enable_seqscan to 'off'
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    s ledger_seals;
    skipped bigint;
    newest bigint;
    amounts bigint[];
    gaps bigint[];
    nos bigint[];
    places int[];
    held bigint := 0;
  begin
    for s in
      select seal.*
        from (select wallet_id, min(seq) as first_seq, max(seq) as last_seq from gone group by wallet_id) g
       cross join lateral (
         select * from ledger_seals
          where wallet_id = g.wallet_id and first_seq <= g.last_seq
            and last_seq >= g.first_seq and last_seq < g.last_seq + 1000 offset 0) seal
    loop
      skipped := s.first_seq - 1;
      newest := (select seq from wallets where id = s.wallet_id);
      amounts := coalesce(s.amounts_cents::bigint[], s.wide_amounts_cents);
      gaps := coalesce(s.gaps_ms::bigint[], s.wide_gaps_ms);
      nos := s.rental_nos;
      places := s.places;
      held := held + (
        select count(*)
          from (select g.*, lag(seq) over () as seq_before, lag(balance_after_cents) over () as balance_before,
                       lag(ms) over () as ms_before
                  from (select *, epoch_ms(created_at) as ms from gone
                         where wallet_id = s.wallet_id and seq between s.first_seq and s.last_seq offset 0) g) e
         where e.seq < newest and e.type = 'rental_charge' and e.note is null and e.processor_charge_id is null
           and e.amount_cents = amounts[e.seq - skipped] and e.rental_no = nos[places[e.seq - skipped]]
           and case when e.seq_before = e.seq - 1
                    then e.balance_after_cents - e.amount_cents = e.balance_before
                         and e.ms - e.ms_before = gaps[e.seq - skipped]
                    else exists (select 1 from entries_of_seal(s, e.seq, e.seq) x
                                  where x.balance_after_cents = e.balance_after_cents and x.created_at = e.created_at) end
      );
    end loop;
    if held <> (select count(*) from gone) then
      raise exception 'ledger_entries is append-only: a row goes only when a seal holds it'
        using errcode = 'check_violation', constraint = 'append_only';
    end if;
    return null;
  end $function$;

-- A seal as its proof tells it, of which these numbers keep their rows; docs/proof.md says what stands where.
create function seal_text(s ledger_seals, of_epoch integer, kept bigint[])
 returns text
 language sql stable
as $function$
  select concat_ws(chr(10),
    concat_ws(' ', 'seal 1', (select proof_id from wallet_proof_ids where wallet_id = s.wallet_id), of_epoch, s.first_seq,
              s.last_seq, s.opening_cents, s.first_ms, encode(hash_before(s), 'hex')),
    'gaps ' || coalesce(array_to_string(s.gaps_ms, ' '), array_to_string(s.wide_gaps_ms, ' ')),
    'amounts ' || coalesce(array_to_string(s.amounts_cents, ' '), array_to_string(s.wide_amounts_cents, ' ')),
    'rentals ' || coalesce((select string_agg(r.id, ' ' order by n)
                              from unnest(s.rental_nos) with ordinality as sealed (no, n)
                              join rentals r on r.no = sealed.no), '-'),
    'places ' || array_to_string(s.places, ' '),
    (select string_agg(concat_ws(' ', 'kept', e.seq, e.type, coalesce(r.id, '-'), coalesce(e.processor_charge_id, '-'),
                                 coalesce(c.cause, '-'),
                                 case when e.note is null then coalesce(encode(x.hash, 'hex'), '-')
                                      else encode(sha256(n.salt || convert_to(e.note, 'UTF8')), 'hex') end),
                       chr(10) order by e.seq)
       from kept_entries e
       left join rentals r on r.no = e.rental_no
       left join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
       left join ledger_note_salts n on n.wallet_id = e.wallet_id and n.seq = e.seq
       left join ledger_erased_notes x on x.wallet_id = e.wallet_id and x.seq = e.seq
      where e.wallet_id = s.wallet_id and e.seq = any (kept)),
    '')
$function$;

-- The same of a seal whose charges are gone: its numbers have few rows.
create or replace function seal_text(s ledger_seals, of_epoch integer)
 returns text
 language sql stable
as $function$
  select seal_text(s, of_epoch, array(select seq from kept_entries
                                       where wallet_id = s.wallet_id and seq between s.first_seq and s.last_seq))
$function$;

-- Gives a seal its hash. One that was there before must come to the same. The seal itself names the numbers that keep their
-- rows: looking for them would read all that it was just made from.
create or replace function ledger_seals_hashed()
 returns trigger
 language plpgsql
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    was ledger_hashes := (select h from ledger_hashes h where h.wallet_id = new.wallet_id and h.last_seq = new.last_seq);
    of_epoch integer := coalesce(was.epoch, (select epoch from ledger_sealing));
    kept bigint[] := array(select new.first_seq + n - 1
                             from unnest(new.places) with ordinality as packed (place, n) where place = 0);
    made bytea;
  begin
    insert into wallet_proof_ids (wallet_id, first_root) values (new.wallet_id, root_to_come()) on conflict do nothing;
    insert into ledger_note_salts (wallet_id, seq)
    select wallet_id, seq from kept_entries where wallet_id = new.wallet_id and seq = any (kept) and note is not null
    on conflict do nothing;
    if hash_before(new) is not null then
      made := sha256(convert_to(seal_text(new, of_epoch, kept), 'UTF8'));
    end if;
    if made is null or was.hash is not null and (made, new.first_seq) is distinct from (was.hash, was.first_seq) then
      raise exception 'a seal has another hash than the one that was proven'
        using errcode = 'check_violation', constraint = 'ledger_hash';
    end if;
    insert into ledger_hashes (wallet_id, last_seq, first_seq, epoch, root, hash)
    values (new.wallet_id, new.last_seq, new.first_seq, of_epoch, root_to_come(), made) on conflict do nothing;
    return null;
  end $function$;

-- Seals the next entries of a wallet, and takes the rows of those charges that are sealed and not the wallet's newest entry.
-- It is the only one that deletes rows of the ledger. It locks nothing but itself, once a wallet.
-- Returns how many it sealed: none with fewer than least_entries.
-- The same runs of numbers are sealed again where there is a hash of them.
-- Nobody waits for a seal to reach the disk: after a crash its rows are there, or it is. A root is made of what has reached it.
-- Plans are kept: planning a seal's statements anew took as long as two hundred entries.
create or replace function seal_wallet(of_wallet bigint, least_entries integer, most_entries integer)
 returns integer
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
 set plan_cache_mode to 'force_generic_plan'
as $function$
  declare
    sealed bigint;
    newest bigint;
    proven bigint;
    until bigint;
  begin
    if not database_is_confirmed() then
      raise exception 'this database was restored, or not yet compared with Temporal: nothing is sealed'
        using errcode = 'RS001', hint = 'Look at: npm run ops -- restore status';
    end if;
    perform pg_advisory_xact_lock_shared(7113, 0);
    if not (select is_on from ledger_sealing) or not pg_try_advisory_xact_lock(7112, hashint8(of_wallet)) then
      return 0;
    end if;
    perform set_config('synchronous_commit', 'off', true);
    sealed := sealed_through(of_wallet);
    newest := (select seq from wallets where id = of_wallet);
    proven := (select last_seq from ledger_hashes where wallet_id = of_wallet and last_seq > sealed order by last_seq limit 1);
    until := coalesce(proven, least(newest, sealed + least(most_entries, 1000)));
    if newest is null or proven is null and until - sealed < greatest(1, least_entries) then
      return 0;
    end if;
    insert into ledger_seals (wallet_id, first_seq, last_seq) values (of_wallet, sealed + 1, until);
    delete from ledger_entries
     where wallet_id = of_wallet and seq between greatest(sealed, 1) and least(until, newest - 1)
       and type = 'rental_charge';
    return until - sealed;
  end $function$;

-- The number of a wallet's first entry at or after an instant, by bisecting: one more than its newest where there is none.
-- Most seals answer by when their charges were written at the earliest and at the latest; one that the instant lies in is
-- opened once.
create function first_seq_at(of_wallet bigint, newest bigint, at timestamptz)
 returns bigint
 language plpgsql stable
as $function$
  declare
    at_ms bigint := ceil(date_part('epoch', at) * 1000);
    before bigint := 0;
    found_at bigint := newest + 1;
    middle bigint;
    is_before boolean;
    s ledger_seals;
    opened_first bigint := 0;
    instants bigint[] := '{}';
  begin
    while found_at - before > 1 loop
      middle := (before + found_at) / 2;
      is_before := (select created_at < at from ledger_rows where wallet_id = of_wallet and seq = middle);
      if is_before is null and middle between opened_first and opened_first + cardinality(instants) - 1 then
        is_before := instants[middle - opened_first + 1] < at_ms;
      elsif is_before is null then
        select case when at_ms > all (rental_latest_ms) then true when at_ms <= all (rental_earliest_ms) then false end
          into is_before
          from ledger_seals where wallet_id = of_wallet and last_seq >= middle order by last_seq limit 1;
        if is_before is null then
          select * into s from ledger_seals where wallet_id = of_wallet and last_seq >= middle order by last_seq limit 1;
          opened_first := s.first_seq;
          instants := array(
            select s.first_ms + bigint_sum(gap) over (order by n rows between unbounded preceding and current row)
              from unnest(coalesce(s.gaps_ms::bigint[], s.wide_gaps_ms)) with ordinality as gaps (gap, n) order by n);
          is_before := instants[middle - opened_first + 1] < at_ms;
        end if;
      end if;
      if is_before then before := middle; else found_at := middle; end if;
    end loop;
    return found_at;
  end
$function$;
drop function ledger_instant;

-- Each vacuum goes through the whole table and its index: of a larger fleet it waits for more rows.
alter table ledger_entries set (autovacuum_vacuum_scale_factor = 0.2);
