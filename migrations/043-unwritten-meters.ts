import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Lets meters run without a write for each cent (decision 126, "Meters that are not written"). While a wallet pays in
 * full, what each of its rentals was charged follows from the instant up to which the wallet is metered. A reading is
 * written when a rental starts to follow its wallet, waits for money, or has waited. `meters` is a view from now on: each
 * meter as it stands.
 */
export async function up(knex: Knex): Promise<void> {
  await lockAtOnce(knex);
  await knex.raw(`
    -- Up to which instant the wallet's running rentals have paid, in milliseconds since 1970.
    alter table wallets add column metered_ms bigint not null default 0;

    alter table meters drop column due_ms;
    alter table meters rename to meter_readings;
    alter table meter_readings rename constraint meters_pkey to meter_readings_pkey;
    alter table meter_readings rename constraint meters_hold_cents_check to meter_readings_hold_cents_check;
    alter table meter_readings rename constraint meters_charged_cents_check to meter_readings_charged_cents_check;
    alter index meters_wallet rename to meter_readings_wallet;
    -- Whether the meter has gone on with its wallet since it was read.
    alter table meter_readings add column follows_wallet boolean not null default false;
    -- A reading is written once or twice: little of each page need stay free.
    alter table meter_readings set (fillfactor = 90);

    -- A meter as it stands. What was charged since the reading came from the hold first (decision 24).
    create view meters as
    select r.rental_no, r.wallet_id, r.price_per_hour_cents,
           greatest(0, r.hold_cents - (c.charged_cents - r.charged_cents)) as hold_cents, c.charged_cents,
           r.running_ms, r.limit_ms, r.starved_ms,
           -- The first millisecond in which a cent more is due, or the limit.
           least(r.limit_ms, r.running_ms + ((c.charged_cents + 1) * 3600000 + r.price_per_hour_cents - 1)
                                            / r.price_per_hour_cents) as due_ms
      from meter_readings r
      left join wallets w on w.id = r.wallet_id
     cross join lateral (
       select case when r.follows_wallet then r.price_per_hour_cents * (w.metered_ms - r.running_ms) / 3600000
                   else r.charged_cents end as charged_cents
     ) c;

    -- Its columns stay the same: it asks the view of that name from now on.
    create or replace view rentals_now as ${await rentalsNow(knex)};

    -- What is written to a meter is its new reading. So an engine of the release before goes on, for which the view was
    -- the table.
    create function meters_read() returns trigger language plpgsql as $$
    begin
      update meter_readings set
        price_per_hour_cents = new.price_per_hour_cents, hold_cents = new.hold_cents, charged_cents = new.charged_cents,
        running_ms = new.running_ms, limit_ms = new.limit_ms, starved_ms = new.starved_ms, follows_wallet = false
       where rental_no = old.rental_no;
      return new;
    end $$;
    create trigger meters_read instead of update on meters for each row execute function meters_read();

    create or replace function rentals_meter() returns trigger language plpgsql as $$
    begin
      if new.status <> 'running' then
        -- Whoever ends a rental writes what its meter showed into its row.
        delete from meter_readings where rental_no = new.no;
        return null;
      end if;
      if tg_op = 'UPDATE' and (new.running_ms <> old.running_ms or new.price_per_hour_cents <> old.price_per_hour_cents) then
        -- What was charged until now no longer follows from start and price. The wallet must not move on meanwhile.
        perform 1 from wallets where id = new.wallet_id for no key update;
        update meters set running_ms = new.running_ms, price_per_hour_cents = new.price_per_hour_cents
         where rental_no = new.no;
      end if;
      insert into meter_readings (rental_no, wallet_id, price_per_hour_cents, hold_cents, charged_cents, running_ms, limit_ms)
      values (new.no, new.wallet_id, new.price_per_hour_cents, new.hold_cents, new.charged_cents, new.running_ms,
              new.limit_ms)
      on conflict (rental_no) do update set limit_ms = excluded.limit_ms;
      return null;
    end $$;

    -- The instant of the shard's last look, and the wallets that it saw and could not lock: the next look takes those, and
    -- what has come due since.
    alter table meter_shards add column looked_ms bigint not null default 0;
    alter table meter_shards add column behind bigint[] not null default '{}';
  `);
  await grant(knex, { meters: { api: 'select', worker: 'select, update', ops: 'select' } });
}

/**
 * Locks what the step changes, all at once or nothing: whoever reads a view and then its tables would otherwise wait for
 * this step, and it for them. It tries for half a minute to find the moment between two ticks.
 */
async function lockAtOnce(knex: Knex): Promise<void> {
  await knex.raw(`do $$
    begin
      for attempt in 1 .. 1500 loop
        begin
          -- With rentals_now go the tables that it shows.
          lock table wallets, meter_shards, rentals_now in access exclusive mode nowait;
          return;
        exception when lock_not_available then
          perform pg_sleep(0.02);
        end;
      end loop;
      raise exception 'the meters are busy: pause metering and creates (ops pause metering, ops pause creates), and migrate again'
        using errcode = 'lock_not_available';
    end $$`);
}

/** The text of the view rentals_now, whose columns stand in the order in which they came. */
async function rentalsNow(knex: Knex): Promise<string> {
  const { rows } = await knex.raw<{ rows: { columns: string }[] }>(`
    select string_agg(case column_name
             when 'hold_cents' then 'coalesce(m.hold_cents, r.hold_cents) as hold_cents'
             when 'charged_cents' then 'coalesce(m.charged_cents, r.charged_cents) as charged_cents'
             else 'r.' || quote_ident(column_name) end, ', ' order by ordinal_position) as columns
      from information_schema.columns where table_schema = current_schema() and table_name = 'rentals_now'`);
  return `select ${rows[0]?.columns ?? ''} from rentals r left join meters m on m.rental_no = r.no`;
}
