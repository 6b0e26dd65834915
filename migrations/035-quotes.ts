import type { Knex } from 'knex';
import { grant } from './grants.js';

/** Adds quotes, which a rental may be opened by (decision 104, "Quotes and alternatives"). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table quotes (
      id text primary key check (id ~ '^quo_[0-9A-HJKMNP-TV-Z]{26}$'),
      user_id text not null references users on delete restrict,
      -- What was asked for: RentalRequest in domain/opening.ts, without its user.
      request jsonb not null check (jsonb_typeof(request) = 'object'),
      -- What was the cheapest then. Nothing dearer is bought by this quote.
      listing_id text not null references listings on delete restrict,
      price_per_hour_cents int not null check (price_per_hour_cents between 1 and 10000000),
      created_at timestamptz(3) not null default clock_ms(),
      expires_at timestamptz(3) not null,
      -- The one rental that was opened by it.
      rental_id text unique references rentals (id) on delete restrict,
      constraint quotes_expire check (expires_at > created_at)
    );
    create index quotes_age on quotes (expires_at);

    create function quotes_taken() returns trigger language plpgsql as $$
    begin
      raise exception 'the quote % was taken already', old.id
        using errcode = 'restrict_violation', constraint = 'quotes_once';
    end $$;
    create trigger quotes_taken before update on quotes
      for each row when (old.rental_id is not null and new.rental_id is distinct from old.rental_id)
      execute function quotes_taken();

    -- The quote by which the rental is opened: one machine for all requests that name it. Quotes go before requests do.
    alter table rental_requests
      add column quote_id text check (quote_id ~ '^quo_[0-9A-HJKMNP-TV-Z]{26}$');
    create index rental_requests_quote on rental_requests (quote_id) where quote_id is not null;

    -- The templates that an upstream can start at all; null until a worker has told: any.
    alter table providers add column template_ids text[];
  `);
  await grant(knex, {
    quotes: { api: 'select, insert', worker: 'select, update (rental_id), delete', ops: 'select' },
  });
}
