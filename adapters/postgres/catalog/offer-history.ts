import type { Database } from '../database.js';
import { isOut } from './provider-health.js';

/** All countries together, in `offer_hours.region_code`. */
const EVERYWHERE = '*';

/**
 * Records, in one statement, what the upstream has on sale in this hour (UTC), from its listings as they are now: the
 * lowest price of the hour so far, and the count as of now. An upstream that is off sale (decision 50, "Upstreams off
 * sale") was looked at, and has nothing on sale. What has not changed is not written.
 */
export async function recordOfferHour(db: Database, providerCode: string): Promise<void> {
  await db.raw(
    `with this as materialized (
       select date_trunc('hour', clock_ms(), 'UTC') as hour
     ), on_sale as materialized (
       select l.family, coalesce(l.region_code, '${EVERYWHERE}') as region_code, min(l.price_per_hour_cents) as lowest,
              count(*) as offers
         from listings l join providers p on p.code = l.provider_code
        where l.provider_code = :providerCode and l.offered and p.paused_at is null
          and not ${isOut('p', '(select clock_ms())')}
        group by grouping sets ((l.family, l.region_code), (l.family))
     ), looked as (
       insert into catalog_hours (hour, provider_code) select hour, :providerCode from this on conflict do nothing
     ), over as (
       update offer_hours o set offers = 0
         from this
        where o.hour = this.hour and o.provider_code = :providerCode and o.offers > 0
          and not exists (select 1 from on_sale s where s.family = o.family and s.region_code = o.region_code)
     )
     insert into offer_hours as o (family, region_code, hour, provider_code, lowest_price_per_hour_cents, offers)
     select s.family, s.region_code, this.hour, :providerCode, s.lowest, s.offers from on_sale s cross join this
     on conflict (family, region_code, hour, provider_code) do update set
       lowest_price_per_hour_cents = least(o.lowest_price_per_hour_cents, excluded.lowest_price_per_hour_cents),
       offers = excluded.offers
     where o.offers <> excluded.offers or o.lowest_price_per_hour_cents > excluded.lowest_price_per_hour_cents`,
    { providerCode },
  );
}

/** A family in one hour. */
export interface OfferHour {
  /** The beginning of the hour (UTC). */
  readonly at: Date;
  /** null when nothing was on sale in the hour. */
  readonly lowestPricePerHourCents: number | null;
  /** How many offers there were when the upstreams were last read in the hour. */
  readonly available: number;
}

/**
 * Reads the hours of a family, oldest first. An hour in which no upstream was read is left out: nobody knows.
 * @param regionCodes ISO country codes; undefined for anywhere
 * @param days how far back, up to the present hour
 */
export async function readOfferHistory(
  db: Database,
  { familyId, regionCodes, days }: OfferHistoryQuery,
): Promise<OfferHour[]> {
  const { rows } = await db.raw<{ rows: OfferHour[] }>(
    `with since as materialized (
       select date_trunc('hour', clock_ms(), 'UTC') - :days::int * 24 * interval '1 hour' as hour
     ), offered as (
       select o.hour, min(o.lowest_price_per_hour_cents) as lowest, sum(o.offers)::bigint as offers
         from offer_hours o
        where o.family = :familyId and o.region_code = any (:regionCodes::text[]) and o.hour >= (select hour from since)
        group by o.hour
     )
     select l.hour as at, o.lowest as "lowestPricePerHourCents", coalesce(o.offers, 0) as available
       from (select distinct c.hour from catalog_hours c where c.hour >= (select hour from since)) l
       left join offered o on o.hour = l.hour
      order by l.hour`,
    { familyId, days, regionCodes: regionCodes === undefined ? [EVERYWHERE] : [...regionCodes] },
  );
  return rows;
}

export interface OfferHistoryQuery {
  readonly familyId: string;
  readonly regionCodes: readonly string[] | undefined;
  readonly days: number;
}
