import { newId } from '../ids.js';
import type { Offer } from '../providers/provider.js';
import type { Database } from './database.js';

/** Makes sure that the provider has a row; everything that is known of it hangs on that. */
export async function ensureProvider(db: Database, code: string): Promise<void> {
  await db('providers').insert({ code }).onConflict('code').ignore();
}

/**
 * Replaces a provider's listings by what it offers now, in one transaction: an offer that vanished is dead at once,
 * one that comes back keeps its id (decision 13).
 */
export async function replaceListings(
  db: Database,
  providerCode: string,
  offers: readonly Offer[],
): Promise<void> {
  const rows = offers.map((offer) => ({ ...offer, id: newId('lst') }));
  await db.transaction(async (trx) => {
    await trx.raw(
      `with offered as materialized (
         select * from jsonb_to_recordset(:rows::jsonb) as x
           (id text, "offerId" text, model text, family text, "vramGb" int, "gpuCount" int, "pricePerHourCents" int,
            region text, "regionCode" text, interconnect text)
       ), vanished as (
         update listings set offered = false
          where provider_code = :providerCode and offered and offer_id not in (select "offerId" from offered)
       )
       insert into listings as l (id, provider_code, offer_id, model, family, vram_gb, gpu_count,
                                  price_per_hour_cents, region, region_code, interconnect)
       select id, :providerCode, "offerId", model, family, "vramGb", "gpuCount", "pricePerHourCents", region,
              "regionCode", interconnect
         from offered
       on conflict (provider_code, offer_id) do update set
         model = excluded.model, family = excluded.family, vram_gb = excluded.vram_gb,
         gpu_count = excluded.gpu_count, price_per_hour_cents = excluded.price_per_hour_cents,
         region = excluded.region, region_code = excluded.region_code, interconnect = excluded.interconnect,
         offered = true
       where (l.model, l.family, l.vram_gb, l.gpu_count, l.price_per_hour_cents, l.region, l.region_code,
              l.interconnect, l.offered)
             is distinct from (excluded.model, excluded.family, excluded.vram_gb, excluded.gpu_count,
              excluded.price_per_hour_cents, excluded.region, excluded.region_code, excluded.interconnect, true)`,
      { providerCode, rows: JSON.stringify(rows) },
    );
    await trx('providers')
      .where({ code: providerCode })
      .update({ catalog_synced_at: trx.raw('clock_ms()') });
  });
}
