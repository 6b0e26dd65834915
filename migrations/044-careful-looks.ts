import type { Knex } from 'knex';

/**
 * Closes gaps between what a look at the meters saw and what is kept of it (decision 126, "Meters that are not written").
 * Whoever writes to a meter waits for its wallet. A wallet that is metered again, after it was at fault, is due whatever
 * looks have passed. What a shard noted as one of another number of shards is forgotten.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A tick writes the wallet and not the meter, so the wallet is what a writer waits for. What it has read may be of
    -- before, and would then be written over what was charged since.
    create or replace function meters_read() returns trigger language plpgsql as $$
    declare
      stands meters;
    begin
      perform 1 from wallets where id = old.wallet_id for no key update;
      select * into stands from meters where rental_no = old.rental_no;
      if stands is distinct from old then
        raise exception 'the meter of rental % has moved on meanwhile: write again', old.rental_no
          using errcode = 'serialization_failure';
      end if;
      update meter_readings set
        price_per_hour_cents = new.price_per_hour_cents, hold_cents = new.hold_cents, charged_cents = new.charged_cents,
        running_ms = new.running_ms, limit_ms = new.limit_ms, starved_ms = new.starved_ms, follows_wallet = false
       where rental_no = old.rental_no;
      return new;
    end $$;

    -- Its meters no longer follow it: those are due by what they charged, and not by a look. So a wallet at fault need
    -- not stand among those that are behind.
    create function wallets_metered_again() returns trigger language plpgsql as $$
    begin
      update meters set charged_cents = charged_cents where wallet_id = new.id;
      return null;
    end $$;
    create trigger wallets_metered_again after update of metering_blocked_at on wallets for each row
      when (old.metering_blocked_at is not null and new.metering_blocked_at is null)
      execute function wallets_metered_again();

    -- An engine of the release before writes the number of shards alone.
    create function meter_shards_begin_anew() returns trigger language plpgsql as $$
    begin
      if new.looked_ms = old.looked_ms then
        new.looked_ms := 0;
        new.behind := '{}';
      end if;
      return new;
    end $$;
    create trigger meter_shards_begin_anew before update on meter_shards for each row
      when (new.shards <> old.shards) execute function meter_shards_begin_anew();
  `);
}
