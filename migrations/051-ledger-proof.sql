-- Proof of the ledger (decision 140, "Proof of the ledger"; docs/proof.md): each seal has a hash that holds the one before
-- it, and each night the newest seals of all wallets become a root, which a process of its own signs.

-- What names a wallet in its proof: chance, and nothing that anybody knows. It is a leaf from this root on.
create table wallet_proof_ids (
  wallet_id bigint primary key,
  proof_id text not null unique default encode(uuid_send(gen_random_uuid()), 'hex') check (proof_id ~ '^[0-9a-f]{32}$'),
  first_root integer not null,
  -- Where its leaf stands in the tree.
  place text not null generated always as
    (left(encode(sha256(('place ' || proof_id || chr(10))::bytea), 'hex'), 16)) stored
);
create index wallet_proof_ids_place on wallet_proof_ids (place);

-- The hash of each seal that was ever made, and the root that covers it. It stays when a seal goes, and the same run of
-- numbers is sealed again, as a published root holds what follows from it.
create table ledger_hashes (
  wallet_id bigint not null,
  last_seq bigint not null,
  first_seq bigint not null,
  epoch integer not null,
  root integer not null,
  hash bytea not null check (length(hash) = 32),
  primary key (wallet_id, last_seq)
);

-- What keeps a note from being guessed by its hash.
create table ledger_note_salts (
  wallet_id bigint not null,
  seq bigint not null,
  salt bytea not null default uuid_send(gen_random_uuid()),
  primary key (wallet_id, seq)
);

-- One night's root. It is begun, then its tree is built, then it is signed.
create table ledger_roots (
  number integer primary key check (number > 0),
  epoch integer not null check (epoch > 0),
  made_at timestamptz(3) not null default clock_ms(),
  -- When the day's walk began that sealed what it covers.
  walk_began_at timestamptz(3) unique,
  -- The hashes of empty places derive from it.
  salt bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()),
  -- The 4,096 nodes of the tree's twelfth level, left to right.
  nodes bytea check (length(nodes) = 4096 * 32),
  tree bytea check (length(tree) = 32),
  -- The signed line, and what the key before said of a new key.
  line text,
  endorsed text,
  signature text,
  signed_at timestamptz(3),
  constraint ledger_roots_in_order check (
    (nodes is null) = (tree is null) and (line is null) = (signature is null) and (line is null) = (signed_at is null)
    and (tree is not null or line is null)
  )
);

alter table ledger_sealing add column epoch integer not null default 1 check (epoch > 0);

-- What a root says of itself in its line: number, epoch, night and tree.
create function root_facts(r ledger_roots)
 returns text
 language sql stable
as $function$
  select concat_ws(' ', r.number, r.epoch, to_char(r.made_at at time zone 'UTC', 'YYYY-MM-DD'), encode(r.tree, 'hex'))
$function$;

-- Roots count on from the epoch, which is higher than any number that a restore may have lost.
create function root_to_come()
 returns integer
 language sql stable
as $function$
  select greatest(coalesce((select number from ledger_roots order by number desc limit 1), 0) + 1, epoch) from ledger_sealing
$function$;

-- The hash of the seal before one: zeros before the first, and null where it is missing.
create function hash_before(s ledger_seals)
 returns bytea
 language sql stable
as $function$
  select case when s.first_seq = 1 then decode(repeat('0', 64), 'hex')
              else (select hash from ledger_hashes where wallet_id = s.wallet_id and last_seq = s.first_seq - 1) end
$function$;

-- A seal as its proof tells it, without its hash; docs/proof.md says what stands where.
create function seal_text(s ledger_seals, of_epoch integer)
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
                                 case when e.note is null then '-'
                                      else encode(sha256(n.salt || convert_to(e.note, 'UTF8')), 'hex') end),
                       chr(10) order by e.seq)
       from kept_entries e
       left join rentals r on r.no = e.rental_no
       left join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
       left join ledger_note_salts n on n.wallet_id = e.wallet_id and n.seq = e.seq
      where e.wallet_id = s.wallet_id and e.seq between s.first_seq and s.last_seq),
    '')
$function$;

-- The hash that a seal must have; null where the one before it is missing.
create function hash_of_seal(s ledger_seals, of_epoch integer)
 returns bytea
 language sql stable
as $function$
  select sha256(convert_to(seal_text(s, of_epoch), 'UTF8')) where hash_before(s) is not null
$function$;

-- Gives a seal its hash. One that was there before must come to the same.
create function ledger_seals_hashed()
 returns trigger
 language plpgsql
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    was ledger_hashes := (select h from ledger_hashes h where h.wallet_id = new.wallet_id and h.last_seq = new.last_seq);
    of_epoch integer := coalesce(was.epoch, (select epoch from ledger_sealing));
    made bytea;
  begin
    insert into wallet_proof_ids (wallet_id, first_root) values (new.wallet_id, root_to_come()) on conflict do nothing;
    insert into ledger_note_salts (wallet_id, seq)
    select wallet_id, seq from kept_entries
     where wallet_id = new.wallet_id and seq between new.first_seq and new.last_seq and note is not null
    on conflict do nothing;
    made := hash_of_seal(new, of_epoch);
    if made is null or was.hash is not null and (made, new.first_seq) is distinct from (was.hash, was.first_seq) then
      raise exception 'a seal has another hash than the one that was proven'
        using errcode = 'check_violation', constraint = 'ledger_hash';
    end if;
    insert into ledger_hashes (wallet_id, last_seq, first_seq, epoch, root, hash)
    values (new.wallet_id, new.last_seq, new.first_seq, of_epoch, root_to_come(), made) on conflict do nothing;
    return null;
  end $function$;
create trigger ledger_seals_hashed after insert on ledger_seals for each row execute function ledger_seals_hashed();

create trigger wallet_proof_ids_append_only before update or delete or truncate on wallet_proof_ids
  for each statement execute function append_only();
create trigger ledger_hashes_append_only before update or delete or truncate on ledger_hashes
  for each statement execute function append_only();
create trigger ledger_note_salts_append_only before update or delete or truncate on ledger_note_salts
  for each statement execute function append_only();

-- A root changes only by what it still lacks.
create function ledger_roots_fixed()
 returns trigger
 language plpgsql
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  begin
    if (new.number, new.epoch, new.made_at, new.walk_began_at, new.salt)
         is distinct from (old.number, old.epoch, old.made_at, old.walk_began_at, old.salt)
       or old.tree is not null and (new.tree, new.nodes) is distinct from (old.tree, old.nodes)
       or old.line is not null
       or new.line !~ ('^root 1 ' || root_facts(new) || ' [0-9a-f]{64} [0-9a-f]{64}\n$')
    then
      raise exception 'a root changes only by what it still lacks'
        using errcode = 'check_violation', constraint = 'append_only';
    end if;
    return new;
  end $function$;
create trigger ledger_roots_fixed before update on ledger_roots for each row execute function ledger_roots_fixed();
create trigger ledger_roots_append_only before delete or truncate on ledger_roots
  for each statement execute function append_only();

-- Names wallets that have no proof id yet, some at a time. Returns the last one that it looked at; null: there are no more.
create function name_wallets(above bigint, most integer)
 returns bigint
 language sql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  with looked_at as (select id from wallets where id > above order by id limit most),
  named as (
    insert into wallet_proof_ids (wallet_id, first_root)
    select id, root_to_come() from looked_at l
     where not exists (select 1 from wallet_proof_ids p where p.wallet_id = l.id) on conflict do nothing)
  select max(id) from looked_at
$function$;

-- Begins the root that covers all seals of now, while nobody seals, once for each day's walk. Returns its number; null where
-- the walk has its root.
create function begin_root()
 returns integer
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    made integer;
  begin
    if not database_is_confirmed() then
      raise exception 'this database was restored, or not yet compared with Temporal: no root is made'
        using errcode = 'RS001', hint = 'Look at: npm run ops -- restore status';
    end if;
    perform pg_advisory_xact_lock(7113, 0);
    insert into ledger_roots (number, epoch, walk_began_at) select root_to_come(), epoch, daily_at from ledger_sealing
    on conflict (walk_began_at) do nothing returning number into made;
    return made;
  end $function$;
revoke execute on function begin_root, name_wallets from public;
grant execute on function begin_root, name_wallets to gpu_rental_worker;

grant select on wallet_proof_ids, ledger_hashes, ledger_note_salts to gpu_rental_api, gpu_rental_worker, gpu_rental_ops;
grant select on ledger_roots to gpu_rental_api, gpu_rental_worker, gpu_rental_ops;
grant update (nodes, tree) on ledger_roots to gpu_rental_worker;
grant update (epoch) on ledger_sealing to gpu_rental_worker;
grant update (line, endorsed, signature, signed_at) on ledger_roots to gpu_rental_ops;

-- Seals the next entries of a wallet, and takes the rows of those charges that are sealed and not the wallet's newest entry.
-- It is the only one that deletes rows of the ledger. It locks nothing but itself, once a wallet.
-- Returns how many it sealed: none with fewer than least_entries.
-- The same runs of numbers are sealed again where there is a hash of them.
create function seal_wallet(of_wallet bigint, least_entries integer, most_entries integer)
 returns integer
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
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

revoke execute on function seal_wallet from public;
grant execute on function seal_wallet to gpu_rental_worker;
