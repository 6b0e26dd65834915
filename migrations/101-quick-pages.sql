-- Quicker pages of sealed ledgers: a page opens as many numbers as it holds, and sums up what lies before them without
-- widening each. What it answers stays as it was.

-- The entries of a seal from one number to another; rental_no is null for those that keep their row. What lies before is
-- only summed up.
create or replace function entries_of_seal(s ledger_seals, from_seq bigint default 0, to_seq bigint default 9223372036854775807)
 returns table (seq bigint, amount_cents bigint, balance_after_cents bigint, rental_no bigint, created_at timestamptz)
 language sql immutable
as $function$
  select s.first_seq + skipped + packed.n - 1, amount, cents + bigint_sum(amount) over so_far, rental.no,
         from_epoch_ms(ms + bigint_sum(gap) over so_far)
    from (select skipped, till,
                 s.opening_cents + coalesce(
                   (select sum(amount) from unnest(s.amounts_cents[:skipped]) amount),
                   (select sum(amount)::bigint from unnest(s.wide_amounts_cents[:skipped]) amount), 0) as cents,
                 s.first_ms + coalesce(
                   (select sum(gap) from unnest(s.gaps_ms[:skipped]) gap),
                   (select sum(gap)::bigint from unnest(s.wide_gaps_ms[:skipped]) gap), 0) as ms
            from (select greatest(from_seq - s.first_seq, 0)::int as skipped,
                         (least(to_seq, s.last_seq) - s.first_seq + 1)::int as till offset 0) bounds offset 0) part
   cross join lateral unnest(
     coalesce(s.gaps_ms[skipped + 1 : till]::bigint[], s.wide_gaps_ms[skipped + 1 : till]),
     coalesce(s.amounts_cents[skipped + 1 : till]::bigint[], s.wide_amounts_cents[skipped + 1 : till]),
     s.places[skipped + 1 : till]) with ordinality as packed (gap, amount, place, n)
    left join unnest(s.rental_nos) with ordinality as rental (no, place) on rental.place = packed.place
  window so_far as (order by packed.n rows between unbounded preceding and current row)
$function$;

-- The newest sealed charges of a wallet, of one rental where it is given, newest first, between two numbers (the second
-- one is not among them). Seals are opened from the newest on, and of each only as much as is wanted.
create or replace function sealed_charges(of_wallet bigint, of_rental bigint, from_seq bigint, before_seq bigint, wanted bigint)
 returns table (seq bigint, amount_cents bigint, balance_after_cents bigint, rental_no bigint, created_at timestamptz)
 language plpgsql stable
as $function$
declare
  seal ledger_seals;
  -- Few of a wallet's entries are no charges, and few of its charges are of one rental.
  at_once bigint := case when of_rental is null then wanted else 200 end;
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
      lowest := greatest(seal.first_seq, from_seq, highest - at_once);
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
