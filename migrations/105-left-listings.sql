-- When an offer came on sale, or left: one that left long ago goes (decision 191, "Offers that left"). Those that are there
-- count from now on; the constant needs no rewriting of the table.
alter table listings add column offer_changed_at timestamptz(3) not null default now();

create function note_offer_change() returns trigger language plpgsql as $$
begin
  new.offer_changed_at := clock_ms();
  return new;
end $$;

create trigger note_offer_change before update of offered on listings
  for each row when (old.offered is distinct from new.offered) execute function note_offer_change();

-- What is not on sale counts for no family, so that its removal counts nothing anew.
create or replace function count_families() returns trigger language plpgsql as $$
    declare
      codes text[] := array(
        select distinct provider_code from touched where tg_op <> 'DELETE' or offered order by 1);
    begin
      -- One writer of a provider's listings after the other (adapters/postgres/catalog/catalog.ts): each counts what the
      -- ones before it have committed.
      perform pg_advisory_xact_lock(7103, hashtext(code)) from unnest(codes) as code;
      delete from provider_families where provider_code = any (codes);
      insert into provider_families (provider_code, family, from_price_per_hour_cents, listings)
      select provider_code, family, min(price_per_hour_cents), count(*)
        from listings
       where offered and provider_code = any (codes)
       group by provider_code, family;
      return null;
    end $$;

grant delete on listings to gpu_rental_worker;
