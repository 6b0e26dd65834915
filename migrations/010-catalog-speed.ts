import type { Knex } from 'knex';

/** Makes a catalog of 100,000 listings fast: its pages, offers and families are read in milliseconds. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Two ways to a page. In the order of the catalog, with what the filters ask for in the index itself, so that a
    -- listing that does not match is passed over without being read: for filters that many listings match, whose page
    -- is soon full. By kind: for filters that few match or none, all of which are found and then sorted.
    drop index listings_cheapest;
    create index listings_cheapest on listings (price_per_hour_cents, id, gpu_count, region_code, vram_gb)
      where offered;
    create index listings_kind on listings (gpu_count, region_code, vram_gb) where offered;
    create index listings_model on listings (model, price_per_hour_cents, id, gpu_count, region_code, vram_gb)
      where offered;
    -- As before, and a region without the family is seen in the index.
    drop index listings_family;
    create index listings_family on listings (family, gpu_count, price_per_hour_cents, id, region_code)
      where offered;

    -- What each provider offers of each family: counted when listings change, and not for everybody who looks.
    create table provider_families (
      provider_code text not null references providers on delete restrict,
      family text not null,
      from_price_per_hour_cents int not null,
      listings int not null check (listings > 0),
      primary key (provider_code, family)
    );
    create function count_families() returns trigger language plpgsql as $$
    declare
      codes text[] := array(select distinct provider_code from touched order by 1);
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
    create trigger count_families_added after insert on listings
      referencing new table as touched for each statement execute function count_families();
    create trigger count_families_changed after update on listings
      referencing new table as touched for each statement execute function count_families();
    create trigger count_families_removed after delete on listings
      referencing old table as touched for each statement execute function count_families();
    insert into provider_families (provider_code, family, from_price_per_hour_cents, listings)
    select provider_code, family, min(price_per_hour_cents), count(*)
      from listings where offered group by provider_code, family;
  `);
}
