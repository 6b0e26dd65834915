-- The hash of an operator's note that was erased with its user: the proof of the ledger says the same without the words.
create table ledger_erased_notes (
  wallet_id bigint not null,
  seq bigint not null,
  hash bytea not null check (length(hash) = 32),
  primary key (wallet_id, seq)
);
create trigger ledger_erased_notes_append_only before update or delete or truncate on ledger_erased_notes
  for each statement execute function append_only();
grant select on ledger_erased_notes to gpu_rental_api, gpu_rental_worker, gpu_rental_ops;

-- A note of an entry may go, and nothing else of it changes, once the proof can do without it.
create function ledger_entries_stay()
 returns trigger
 language plpgsql
as $function$
  begin
    if new.note is null and to_jsonb(old) - 'note' = to_jsonb(new) - 'note'
       and is_erasing(array(select user_id from wallets where id = old.wallet_id))
       and (exists (select 1 from ledger_erased_notes where wallet_id = old.wallet_id and seq = old.seq)
            or not exists (select 1 from ledger_note_salts where wallet_id = old.wallet_id and seq = old.seq)) then
      return new;
    end if;
    raise exception '% is append-only', tg_table_name using errcode = 'check_violation', constraint = 'append_only';
  end $function$;
drop trigger ledger_entries_append_only on ledger_entries;
create trigger ledger_entries_append_only before truncate on ledger_entries
  for each statement execute function append_only();
create trigger ledger_entries_stay before update on ledger_entries for each row execute function ledger_entries_stay();

-- What would let the hash be compared with guesses of the note goes with it.
create function ledger_note_salts_stay()
 returns trigger
 language plpgsql
as $function$
  begin
    if is_erasing(array(select user_id from wallets where id = old.wallet_id))
       and exists (select 1 from ledger_erased_notes where wallet_id = old.wallet_id and seq = old.seq) then
      return old;
    end if;
    raise exception '% is append-only', tg_table_name using errcode = 'check_violation', constraint = 'append_only';
  end $function$;
drop trigger ledger_note_salts_append_only on ledger_note_salts;
create trigger ledger_note_salts_append_only before update or truncate on ledger_note_salts
  for each statement execute function append_only();
create trigger ledger_note_salts_stay before delete on ledger_note_salts
  for each row execute function ledger_note_salts_stay();

-- A seal as its proof tells it, without its hash; docs/proof.md says what stands where.
create or replace function seal_text(s ledger_seals, of_epoch integer)
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
      where e.wallet_id = s.wallet_id and e.seq between s.first_seq and s.last_seq),
    '')
$function$;

-- Erases the notes of operators in the ledger of an account that is being closed.
create function erase_notes(of_user text)
 returns void
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    wallet bigint := (select w.id from wallets w join account_closings c using (user_id) where w.user_id = of_user);
    said text := coalesce(current_setting('gpu_rental.erasing', true), '');
  begin
    if wallet is null or not pg_try_advisory_xact_lock(7112, hashint8(wallet)) then
      raise exception 'the account of % is not being closed, or its ledger is being sealed', of_user;
    end if;
    perform set_config('gpu_rental.erasing', 'on', true);
    insert into ledger_erased_notes (wallet_id, seq, hash)
    select n.wallet_id, n.seq, sha256(n.salt || convert_to(e.note, 'UTF8'))
      from ledger_note_salts n join ledger_entries e using (wallet_id, seq)
      join ledger_causes c using (wallet_id, seq)
     where n.wallet_id = wallet and e.note is not null and c.cause like 'operation:%'
    on conflict do nothing;
    update ledger_entries e set note = null from ledger_causes c
     where e.wallet_id = wallet and c.wallet_id = e.wallet_id and c.seq = e.seq and c.cause like 'operation:%'
       and e.note is not null;
    delete from ledger_note_salts n using ledger_erased_notes x
     where n.wallet_id = wallet and x.wallet_id = n.wallet_id and x.seq = n.seq;
    perform set_config('gpu_rental.erasing', said, true);
  end $function$;
revoke execute on function erase_notes from public;
grant execute on function erase_notes to gpu_rental_worker;
