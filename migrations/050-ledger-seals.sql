-- Seals of the ledger (decision 139, "Seals of the ledger"): a run of a wallet's entries becomes one row of packed arrays, after which its
-- charges of rentals give up their rows. Nothing is sealed until an operator switches it on; the function that seals comes
-- with the proof (051).

-- One run of a wallet's numbers, without a gap from the seal before it on.
create table ledger_seals (
  wallet_id bigint not null,
  first_seq bigint not null check (first_seq > 0),
  last_seq bigint not null,
  -- The balance before the first entry, and after the last one.
  opening_cents bigint not null check (opening_cents >= 0),
  closing_cents bigint not null check (closing_cents >= 0),
  -- When the first entry was written, in milliseconds since 1970.
  first_ms bigint not null,
  -- Entry by entry: milliseconds since the one before it (a clock may be set back), the amount, and whose charge it is: a
  -- place in rental_nos, or 0 for an entry that keeps its row. What int does not hold is kept wide.
  gaps_ms int[],
  wide_gaps_ms bigint[],
  amounts_cents int[],
  wide_amounts_cents bigint[],
  places int[] not null,
  -- Rental by rental, of the charges that are sealed: how many, what they sum up to, and between which instants they were written.
  rental_nos bigint[] not null,
  rental_entries int[] not null,
  rental_cents bigint[] not null,
  rental_earliest_ms bigint[] not null,
  rental_latest_ms bigint[] not null,
  primary key (wallet_id, last_seq),
  -- A thousand at most: whoever looks for a number's seal looks no further than that.
  constraint ledger_seals_whole check (
    cardinality(places) = last_seq - first_seq + 1 and cardinality(places) between 1 and 1000
    and cardinality(places) = coalesce(cardinality(gaps_ms), cardinality(wide_gaps_ms))
    and cardinality(places) = coalesce(cardinality(amounts_cents), cardinality(wide_amounts_cents))
    and num_nonnulls(gaps_ms, wide_gaps_ms) = 1 and num_nonnulls(amounts_cents, wide_amounts_cents) = 1
  )
);
grant select on ledger_seals to gpu_rental_api, gpu_rental_worker, gpu_rental_ops;

-- Milliseconds in floating point, which is exact until the year 2242: numeric and multiplied intervals take three times
-- as long.
create or replace function epoch_ms(at timestamptz)
 returns bigint
 language sql immutable strict
as $function$ select (date_part('epoch', at - timestamptz '1970-01-01 00:00:00+00') * 1000)::bigint $function$;

create or replace function from_epoch_ms(ms bigint)
 returns timestamptz
 language sql immutable strict
as $function$ select to_timestamp(ms / 1000.0::float8) $function$;

-- A sum of bigint that is bigint, as a running one takes; sum() makes a numeric of each.
create aggregate bigint_sum(bigint) (sfunc = int8pl, stype = bigint, initcond = '0');

-- The entries of a seal from one number to another; rental_no is null for those that keep their row. What lies before is
-- only summed up.
create function entries_of_seal(s ledger_seals, from_seq bigint default 0, to_seq bigint default 9223372036854775807)
 returns table (seq bigint, amount_cents bigint, balance_after_cents bigint, rental_no bigint, created_at timestamptz)
 language sql immutable
as $function$
  select s.first_seq + skipped + packed.n - 1, amount, cents + bigint_sum(amount) over so_far, rental.no,
         from_epoch_ms(ms + bigint_sum(gap) over so_far)
    from (select skipped, till,
                 s.opening_cents + coalesce((
                   select sum(amount)::bigint
                     from unnest(coalesce(s.amounts_cents[:skipped]::bigint[], s.wide_amounts_cents[:skipped])) amount
                 ), 0) as cents,
                 s.first_ms + coalesce((
                   select sum(gap)::bigint
                     from unnest(coalesce(s.gaps_ms[:skipped]::bigint[], s.wide_gaps_ms[:skipped])) gap
                 ), 0) as ms
            from (select greatest(from_seq - s.first_seq, 0)::int as skipped,
                         (least(to_seq, s.last_seq) - s.first_seq + 1)::int as till offset 0) bounds offset 0) part
   cross join lateral unnest(
     coalesce(s.gaps_ms[skipped + 1 : till]::bigint[], s.wide_gaps_ms[skipped + 1 : till]),
     coalesce(s.amounts_cents[skipped + 1 : till]::bigint[], s.wide_amounts_cents[skipped + 1 : till]),
     s.places[skipped + 1 : till]) with ordinality as packed (gap, amount, place, n)
    left join unnest(s.rental_nos) with ordinality as rental (no, place) on rental.place = packed.place
  window so_far as (order by packed.n rows between unbounded preceding and current row)
$function$;

-- The rows themselves, of which a sealed wallet has few: only what knows of seals reads them. The right to read the table
-- is taken from the service while anything is sealed, so a process of an earlier release fails and shows no half ledger.
create view ledger_rows as select * from ledger_entries;
grant select on ledger_rows to gpu_rental_api, gpu_rental_worker, gpu_rental_ops;
alter function wallets_changed() security definer;

-- How far a wallet is sealed; 0 where it is not.
create function sealed_through(of_wallet bigint)
 returns bigint
 language sql stable
as $function$
  select coalesce((select last_seq from ledger_seals where wallet_id = of_wallet order by last_seq desc limit 1), 0)
$function$;

-- What is no charge of a rental: these entries keep their rows for good.
create view kept_entries as select * from ledger_entries where type <> 'rental_charge';
grant select on kept_entries to gpu_rental_api, gpu_rental_worker, gpu_rental_ops;

-- The entries of a wallet from one number to another, sealed or not, in no order. A charge that is sealed is read from its
-- seal, whether it has given up its row or not.
create function ledger_between(of_wallet bigint, from_seq bigint, to_seq bigint)
 returns setof ledger_entries
 language sql stable
as $function$
  select e.*
    from (select sealed_through(of_wallet) as through offset 0) sealed
    join ledger_rows e on e.wallet_id = of_wallet and e.seq between greatest(from_seq, sealed.through + 1) and to_seq
  union all
  select e.*
    from (select sealed_through(of_wallet) as through offset 0) sealed
    join kept_entries e on e.wallet_id = of_wallet and e.seq between from_seq and least(to_seq, sealed.through)
  union all
  select s.wallet_id, x.seq, 'rental_charge'::ledger_entry_type, x.amount_cents, x.balance_after_cents, x.rental_no, null,
         null, x.created_at::timestamptz(3)
    from ledger_seals s
   cross join lateral entries_of_seal(s, from_seq, to_seq) x
   where s.wallet_id = of_wallet and s.last_seq >= from_seq and s.last_seq < to_seq + 1000 and s.first_seq <= to_seq
     and x.rental_no is not null
$function$;

-- The newest sealed charges of a wallet, of one rental where it is given, newest first, between two numbers (the second
-- one is not among them). Seals are opened from the newest on, and of each only as much as is wanted.
create function sealed_charges(of_wallet bigint, of_rental bigint, from_seq bigint, before_seq bigint, wanted bigint)
 returns table (seq bigint, amount_cents bigint, balance_after_cents bigint, rental_no bigint, created_at timestamptz)
 language plpgsql stable
as $function$
declare
  seal ledger_seals;
  highest bigint;
  lowest bigint;
  given bigint;
begin
  for seal in
    select * from ledger_seals s
     where s.wallet_id = of_wallet and s.rental_nos <> '{}' and s.last_seq >= from_seq and s.first_seq < before_seq
       and s.last_seq < before_seq + 1000 and (of_rental is null or of_rental = any (s.rental_nos))
     order by s.last_seq desc
  loop
    highest := least(seal.last_seq, before_seq - 1);
    while highest >= greatest(seal.first_seq, from_seq) loop
      lowest := greatest(seal.first_seq, from_seq, highest - 199);
      return query
        select x.* from entries_of_seal(seal, lowest, highest) x
         where x.rental_no is not null and (of_rental is null or x.rental_no = of_rental)
         order by x.seq desc limit wanted;
      get diagnostics given = row_count;
      wanted := wanted - given;
      if wanted = 0 then return; end if;
      highest := lowest - 1;
    end loop;
  end loop;
end
$function$;

-- Sums of a wallet's entries from one number to another, by type and rental; a rental may have several. Seals that lie
-- within give their sums, and only those at the edges are read entry by entry.
create function ledger_sums(of_wallet bigint, from_seq bigint, to_seq bigint)
 returns table (type ledger_entry_type, rental_no bigint, entries bigint, amount_cents bigint, latest_at timestamptz)
 language sql stable
as $function$
  select e.type, e.rental_no, count(*), sum(e.amount_cents)::bigint, max(e.created_at)
    from (select sealed_through(of_wallet) as through offset 0) sealed
    join ledger_rows e on e.wallet_id = of_wallet and e.seq between greatest(from_seq, sealed.through + 1) and to_seq
   group by e.type, e.rental_no
  union all
  select e.type, e.rental_no, count(*), sum(e.amount_cents)::bigint, max(e.created_at)
    from (select sealed_through(of_wallet) as through offset 0) sealed
    join kept_entries e on e.wallet_id = of_wallet and e.seq between from_seq and least(to_seq, sealed.through)
   group by e.type, e.rental_no
  union all
  select 'rental_charge'::ledger_entry_type, r.no, r.entries::bigint, r.cents, from_epoch_ms(r.latest_ms)
    from ledger_seals s
   cross join lateral unnest(s.rental_nos, s.rental_entries, s.rental_cents, s.rental_latest_ms)
     as r (no, entries, cents, latest_ms)
   where s.wallet_id = of_wallet and s.first_seq >= from_seq and s.last_seq between from_seq and to_seq
  union all
  select 'rental_charge'::ledger_entry_type, x.rental_no, count(*), sum(x.amount_cents)::bigint, max(x.created_at)
    from ledger_seals s
   cross join lateral entries_of_seal(s, from_seq, to_seq) x
   where s.wallet_id = of_wallet and s.last_seq >= from_seq and s.last_seq < to_seq + 1000 and s.first_seq <= to_seq
     and (s.first_seq < from_seq or s.last_seq > to_seq)
     and x.rental_no is not null
   group by x.rental_no
$function$;

-- When an entry was written: all that bisecting a ledger asks.
create function ledger_instant(of_wallet bigint, of_seq bigint)
 returns timestamptz
 language sql stable
as $function$
  select coalesce(
    (select created_at from ledger_rows where wallet_id = of_wallet and seq = of_seq),
    (select from_epoch_ms(s.first_ms + coalesce(
              (select sum(gap) from unnest(s.gaps_ms[:of_seq - s.first_seq + 1]) gap),
              (select sum(gap)::bigint from unnest(s.wide_gaps_ms[:of_seq - s.first_seq + 1]) gap)))
       from ledger_seals s
      where s.wallet_id = of_wallet and s.last_seq >= of_seq
      order by s.last_seq limit 1))
$function$;

-- What the seal of these entries must be, made from their rows.
create function seal_of(of_wallet bigint, from_seq bigint, to_seq bigint)
 returns ledger_seals
 language sql stable
as $function$
  with e as (
    select seq, amount_cents, balance_after_cents, epoch_ms(created_at) as ms,
           case when type = 'rental_charge' then rental_no end as no
      from ledger_rows
     where wallet_id = of_wallet and seq between from_seq and to_seq
  ), by_rental as (
    select no, count(*)::int as entries, sum(amount_cents)::bigint as cents, min(ms) as earliest, max(ms) as latest,
           (row_number() over (order by min(seq)))::int as place
      from e where no is not null group by no
  ), rentals as (
    select coalesce(array_agg(no order by place), '{}') as nos, coalesce(array_agg(entries order by place), '{}') as entries,
           coalesce(array_agg(cents order by place), '{}') as cents,
           coalesce(array_agg(earliest order by place), '{}') as earliest,
           coalesce(array_agg(latest order by place), '{}') as latest
      from by_rental
  ), gapped as (
    select e.*, coalesce(r.place, 0) as place, e.ms - lag(e.ms, 1, e.ms) over (order by e.seq) as gap
      from e left join by_rental r on r.no = e.no
  ), packed as (
    select array_agg(gap order by seq) as gaps, array_agg(amount_cents order by seq) as amounts,
           array_agg(place order by seq) as places,
           max(abs(gap)) <= 2147483647 as gaps_fit, max(abs(amount_cents)) <= 2147483647 as amounts_fit,
           min(ms) filter (where seq = from_seq) as first_ms,
           min(balance_after_cents - amount_cents) filter (where seq = from_seq) as opening,
           min(balance_after_cents) filter (where seq = to_seq) as closing
      from gapped
  )
  select row(of_wallet, from_seq, to_seq, p.opening, p.closing, p.first_ms,
             case when p.gaps_fit then p.gaps::int[] end, case when not p.gaps_fit then p.gaps end,
             case when p.amounts_fit then p.amounts::int[] end, case when not p.amounts_fit then p.amounts end,
             p.places, r.nos, r.entries, r.cents, r.earliest, r.latest)::ledger_seals
    from packed p cross join rentals r
$function$;

-- Whether the ledger is sealed, and how far the walk over all wallets has come; one row.
create table ledger_sealing (
  id boolean primary key default true check (id),
  is_on boolean not null default false,
  changed_at timestamptz(3) not null default clock_ms(),
  -- The wallets up to this one are done, in the walk that began then. The first walk of a day (UTC) seals each wallet up
  -- to its newest entry.
  walked_wallet bigint not null default 0,
  walk_began_at timestamptz(3),
  is_daily boolean not null default false,
  -- When the last walk ended, and the last one of a day.
  walked_at timestamptz(3),
  daily_at timestamptz(3)
);
insert into ledger_sealing default values;
grant select, update (walked_wallet, walk_began_at, is_daily, walked_at, daily_at) on ledger_sealing to gpu_rental_worker;
grant select on ledger_sealing to gpu_rental_ops;

-- Switches sealing on or off, while nobody seals or unseals. Off leaves what is sealed.
create function switch_sealing(wanted boolean)
 returns void
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  begin
    perform pg_advisory_xact_lock(7113, 0);
    update ledger_sealing
       set is_on = wanted, changed_at = clock_ms(), walked_wallet = 0, walk_began_at = null, walked_at = null;
    if wanted then
      revoke select on ledger_entries from gpu_rental_api, gpu_rental_worker, gpu_rental_ops;
    end if;
  end $function$;

-- Lets the service read the table again, once sealing is off and no seal is left.
create function end_unsealing()
 returns void
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  begin
    perform pg_advisory_xact_lock(7113, 0);
    if (select is_on from ledger_sealing) or exists (select 1 from ledger_seals) then
      raise exception 'the ledger is sealed' using errcode = 'object_not_in_prerequisite_state';
    end if;
    grant select on ledger_entries to gpu_rental_api, gpu_rental_worker, gpu_rental_ops;
  end $function$;
revoke execute on function switch_sealing, end_unsealing from public;
grant execute on function switch_sealing, end_unsealing to gpu_rental_ops;

-- Writes the rows of a wallet's newest seal back, byte for byte, and takes the seal. Returns how many entries it held.
create function unseal_wallet(of_wallet bigint)
 returns integer
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    sealed bigint;
    held integer;
  begin
    perform pg_advisory_xact_lock_shared(7113, 0);
    if (select is_on from ledger_sealing) then
      raise exception 'the ledger is being sealed' using errcode = 'object_not_in_prerequisite_state';
    end if;
    perform pg_advisory_xact_lock(7112, hashint8(of_wallet));
    sealed := sealed_through(of_wallet);
    insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
    select of_wallet, x.seq, 'rental_charge', x.amount_cents, x.balance_after_cents, x.rental_no, x.created_at
      from ledger_seals s
     cross join lateral entries_of_seal(s) x
     where s.wallet_id = of_wallet and s.last_seq = sealed and x.rental_no is not null
    on conflict do nothing;
    delete from ledger_seals where wallet_id = of_wallet and last_seq = sealed
    returning last_seq - first_seq + 1 into held;
    return coalesce(held, 0);
  end $function$;

revoke execute on function unseal_wallet from public;
grant execute on function unseal_wallet to gpu_rental_ops;

-- A seal is made of its entries' rows, and continues the seal before it. One that comes whole must be the same to the bit.
-- Charges that say more than a seal holds are refused as their rows go; the newest one keeps its row, and is looked at here.
create function ledger_seals_added()
 returns trigger
 language plpgsql
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    made ledger_seals := seal_of(new.wallet_id, new.first_seq, new.last_seq);
  begin
    if num_nonnulls(new.opening_cents, new.closing_cents, new.first_ms, new.gaps_ms, new.wide_gaps_ms, new.amounts_cents,
                    new.wide_amounts_cents, new.places, new.rental_nos, new.rental_entries, new.rental_cents,
                    new.rental_earliest_ms, new.rental_latest_ms) > 0 and new is distinct from made
       or exists (
            select 1 from ledger_entries e
             where e.wallet_id = new.wallet_id and e.seq = new.last_seq
               and e.type = 'rental_charge' and (e.note is not null or e.processor_charge_id is not null))
       or sealed_through(new.wallet_id) <> new.first_seq - 1
    then
      raise exception 'a seal differs from its entries, or these do not add up'
        using errcode = 'check_violation', constraint = 'ledger_seal';
    end if;
    return made;
  end $function$;
create trigger ledger_seals_added before insert on ledger_seals for each row execute function ledger_seals_added();
create trigger ledger_seals_append_only before update or truncate on ledger_seals
  for each statement execute function append_only();

-- Only the newest seal of a wallet goes, and only once each of its entries has its row again.
create function ledger_seals_gone()
 returns trigger
 language plpgsql
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  begin
    if exists (
      select 1 from gone g
       where g is distinct from seal_of(g.wallet_id, g.first_seq, g.last_seq)
          or sealed_through(g.wallet_id) > g.last_seq
    ) then
      raise exception 'the rows of a seal that goes must be there again'
        using errcode = 'check_violation', constraint = 'ledger_seal';
    end if;
    return null;
  end $function$;
create trigger ledger_seals_gone after delete on ledger_seals referencing old table as gone
  for each statement execute function ledger_seals_gone();

-- A row of the ledger goes only if a seal holds it, and never a wallet's newest entry.
create function ledger_entries_gone()
 returns trigger
 language plpgsql
 set enable_nestloop to 'off'
 set enable_mergejoin to 'off'
 set enable_seqscan to 'off'
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  begin
    if exists (
      with sealed as materialized (
        select s.wallet_id, x.*
          from ledger_seals s
         cross join lateral entries_of_seal(s) x
         where s.wallet_id = any (array(select distinct wallet_id from gone))
           and s.last_seq >= (select min(seq) from gone) and s.last_seq < (select max(seq) from gone) + 1000
           and x.rental_no is not null
      )
      select 1 from gone g
        left join sealed x on x.wallet_id = g.wallet_id and x.seq = g.seq
        left join wallets w on w.id = g.wallet_id
       where (g.seq < w.seq) is not true or g.type <> 'rental_charge'
          or (g.amount_cents, g.balance_after_cents, g.rental_no, g.created_at)
             is distinct from (x.amount_cents, x.balance_after_cents, x.rental_no, x.created_at)
          or g.note is not null or g.processor_charge_id is not null
    ) then
      raise exception 'ledger_entries is append-only: a row goes only when a seal holds it'
        using errcode = 'check_violation', constraint = 'append_only';
    end if;
    return null;
  end $function$;
drop trigger ledger_entries_append_only on ledger_entries;
create trigger ledger_entries_append_only before update or truncate on ledger_entries
  for each statement execute function append_only();
create trigger ledger_entries_gone after delete on ledger_entries referencing old table as gone
  for each statement execute function ledger_entries_gone();

-- What is added are the newest entries of its wallet: numbers of which the rows are gone are taken all the same. Others come
-- back as their seal says, and not otherwise. Where nothing is sealed each number has its row, and the primary key refuses it.
create or replace function ledger_entries_added()
 returns trigger
 language plpgsql
 set enable_nestloop to 'off'
 set enable_hashjoin to 'on'
 set enable_mergejoin to 'off'
 set enable_seqscan to 'off'
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    is_wrong boolean;
  begin
    if not exists (select 1 from ledger_seals) then
      is_wrong := exists (
        select 1 from added a
          left join wallets w on w.id = a.wallet_id and w.id = any (array(select wallet_id from added))
         where w.seq is null or a.seq > w.seq
      );
    elsif exists (
      select 1
        from (select wallet_id, min(seq) as first_seq, max(seq) as last_seq, count(*) as entries
                from added group by wallet_id) a
        left join wallets w on w.id = a.wallet_id and w.id = any (array(select wallet_id from added))
       where w.seq is null or a.last_seq > w.seq or a.first_seq <= w.seq - a.entries
    ) then
      is_wrong := exists (
        with sealed as materialized (
          select s.wallet_id, x.*
            from ledger_seals s
           cross join lateral entries_of_seal(s) x
           where s.wallet_id = any (array(select distinct wallet_id from added))
             and s.last_seq >= (select min(seq) from added) and s.last_seq < (select max(seq) from added) + 1000
             and x.rental_no is not null
        )
        select 1 from added a
          left join sealed x on x.wallet_id = a.wallet_id and x.seq = a.seq
         where x.seq is null or a.type <> 'rental_charge' or a.note is not null or a.processor_charge_id is not null
            or (a.amount_cents, a.balance_after_cents, a.rental_no, a.created_at)
               is distinct from (x.amount_cents, x.balance_after_cents, x.rental_no, x.created_at)
      );
    end if;
    if is_wrong then
      raise exception 'ledger chain broken: an entry does not continue its predecessor or its wallet'
        using errcode = 'check_violation', constraint = 'ledger_chain';
    end if;
    return null;
  end $function$;

-- What gives up its row leaves room in the table, which new entries take once it was vacuumed.
alter table ledger_entries set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500000);
