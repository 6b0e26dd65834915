import type { Knex } from 'knex';

/** Makes the tables of the upstreams' offers and of the upstreams themselves. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table providers (
      code text primary key check (code ~ '^[a-z0-9-]{1,32}$'),
      -- The last catalog that was read whole, and the last list of our pods.
      catalog_synced_at timestamptz(3),
      pods_listed_at timestamptz(3),
      last_error text,
      last_error_at timestamptz(3)
    );

    create table listings (
      id text primary key check (id ~ '^lst_[0-9A-HJKMNP-TV-Z]{26}$'),
      provider_code text not null references providers on delete restrict,
      offer_id text not null,
      model text not null,
      family text not null,
      vram_gb int not null check (vram_gb > 0),
      gpu_count int not null check (gpu_count in (1, 2, 4, 8)),
      price_per_hour_cents int not null check (price_per_hour_cents between 1 and 10000000),
      region text not null,
      region_code text not null,
      interconnect text not null,
      -- In the provider's last catalog; whether that is fresh, the provider's row says (decision 13).
      offered boolean not null default true,
      created_at timestamptz(3) not null default clock_ms(),
      unique (provider_code, offer_id)
    );
    create index listings_cheapest on listings (price_per_hour_cents, id) where offered;
    create index listings_family on listings (family, gpu_count, price_per_hour_cents, id) where offered;
  `);
}
