-- Sealing at less processor time still (decision 139, "Seals of the ledger"). Seals, hashes and what is refused stay as
-- they were.

-- A plan is kept as long as its connection. One that was made while there were few seals reads all hashes for each seal,
-- long after there are many. And a wallet's rows lie one to a page, in the order of their numbers: a bitmap only sorts
-- what is sorted.
alter function seal_wallet set enable_seqscan to off;
alter function seal_wallet set enable_bitmapscan to off;

-- A row of the ledger goes only if a seal holds it, and never a wallet's newest entry. Each is compared with what the seal
-- tells of its number, from the seal's own numbers and not by what made them.
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
    balance bigint;
    instant bigint;
    balances bigint[];
    instants bigint[];
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
      balance := s.opening_cents;
      instant := s.first_ms;
      balances := '{}';
      instants := '{}';
      for n in 1 .. cardinality(places) loop
        balance := balance + amounts[n];
        instant := instant + gaps[n];
        balances[n] := balance;
        instants[n] := instant;
      end loop;
      held := held + (
        select count(*) from gone
         where wallet_id = s.wallet_id and seq between s.first_seq and s.last_seq and seq < newest
           and type = 'rental_charge' and note is null and processor_charge_id is null
           and amount_cents = amounts[seq - skipped] and rental_no = nos[places[seq - skipped]]
           and balance_after_cents = balances[seq - skipped] and epoch_ms(created_at) = instants[seq - skipped]
      );
    end loop;
    if held <> (select count(*) from gone) then
      raise exception 'ledger_entries is append-only: a row goes only when a seal holds it'
        using errcode = 'check_violation', constraint = 'append_only';
    end if;
    return null;
  end $function$;

-- A seal as its proof tells it, of which these numbers keep their rows; docs/proof.md says what stands where. A statement
-- that is made up for each seal takes longer than the text of it.
create or replace function seal_text(s ledger_seals, of_epoch integer, kept bigint[])
 returns text
 language plpgsql stable
 set enable_seqscan to 'off'
as $function$
  declare
    kept_lines text;
  begin
    if kept <> '{}' then
      kept_lines := (
        select string_agg(concat_ws(' ', 'kept', e.seq, e.type, coalesce(r.id, '-'), coalesce(e.processor_charge_id, '-'),
                                    coalesce(c.cause, '-'),
                                    case when e.note is null then coalesce(encode(x.hash, 'hex'), '-')
                                         else encode(sha256(n.salt || convert_to(e.note, 'UTF8')), 'hex') end),
                          chr(10) order by e.seq)
          from kept_entries e
          left join rentals r on r.no = e.rental_no
          left join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
          left join ledger_note_salts n on n.wallet_id = e.wallet_id and n.seq = e.seq
          left join ledger_erased_notes x on x.wallet_id = e.wallet_id and x.seq = e.seq
         where e.wallet_id = s.wallet_id and e.seq = any (kept));
    end if;
    return concat_ws(chr(10),
      concat_ws(' ', 'seal 1', (select proof_id from wallet_proof_ids where wallet_id = s.wallet_id), of_epoch, s.first_seq,
                s.last_seq, s.opening_cents, s.first_ms, encode(hash_before(s), 'hex')),
      'gaps ' || coalesce(array_to_string(s.gaps_ms, ' '), array_to_string(s.wide_gaps_ms, ' ')),
      'amounts ' || coalesce(array_to_string(s.amounts_cents, ' '), array_to_string(s.wide_amounts_cents, ' ')),
      'rentals ' || coalesce((select string_agg(r.id, ' ' order by n)
                                from unnest(s.rental_nos) with ordinality as sealed (no, n)
                                join rentals r on r.no = sealed.no), '-'),
      'places ' || array_to_string(s.places, ' '),
      kept_lines,
      '');
  end
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
    kept bigint[] := array(select new.first_seq + n - 1 from unnest(array_positions(new.places, 0)) n);
    made bytea;
  begin
    if not exists (select 1 from wallet_proof_ids where wallet_id = new.wallet_id) then
      insert into wallet_proof_ids (wallet_id, first_root) values (new.wallet_id, root_to_come()) on conflict do nothing;
    end if;
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
