import { newId } from '../../ids.js';
import { allFacts } from '../../providers/offers/machine-facts.js';
import type { TelemetryTold } from '../../../domain/machines/telemetry.js';
import type { SoftwareCapabilities } from '../../../domain/rentals/software.js';
import type { Offer } from '../../providers/provider.js';
import type { Database, Transaction } from '../database.js';
import { lockBy } from '../locks.js';

/**
 * Makes sure that the provider has a row: all that is known of it refers to that row.
 * @param templates what it can start; null for what nobody has told: any
 * @param software what it can do with own software; null: nothing
 * @param telemetry what it tells of the use of machines; null: nothing
 */
export async function ensureProvider(
  db: Database,
  code: string,
  templates: ReadonlySet<string> | null = null,
  software: SoftwareCapabilities | null = null,
  telemetry: TelemetryTold | null = null,
): Promise<void> {
  await db('providers').insert({ code }).onConflict('code').ignore();
  // Written only when it has changed: others wait for the lock of this row.
  await db.raw(
    `update providers set template_ids = :ids::text[], software = :software::jsonb, telemetry = :telemetry::jsonb
      where code = :code and (template_ids, software, telemetry)
            is distinct from (:ids::text[], :software::jsonb, :telemetry::jsonb)`,
    {
      code,
      ids: templates === null ? null : [...templates].toSorted(),
      software: software && JSON.stringify(software),
      telemetry: telemetry && JSON.stringify(telemetry),
    },
  );
}

/**
 * Replaces a provider's listings by its current offers, in one transaction. An offer that vanished is dead at once; one
 * that comes back keeps its id (decision 13, "Live listings"). Unchanged listings are neither written nor locked: most
 * syncs find few changes.
 */
export async function replaceListings(
  db: Database,
  providerCode: string,
  offers: readonly Offer[],
): Promise<void> {
  await db.transaction(async (trx) => {
    // Syncs of one provider come one after the other. A lock of the provider's row would also delay those who note its
    // health.
    await lockBy(trx, 'catalogOfProvider', providerCode);
    const gone = await readOffered(trx, providerCode);
    const news: Offer[] = [];
    for (const offer of offers) {
      if (gone.get(offer.offerId) !== keyOf(toldOf(offer))) news.push(offer);
      gone.delete(offer.offerId);
    }
    if (gone.size > 0) {
      await trx.raw(
        'update listings set offered = false where provider_code = ? and offer_id = any (?::text[])',
        [providerCode, [...gone.keys()]],
      );
    }
    if (news.length > 0) await upsertListings(trx, providerCode, news);
    await trx('providers')
      .where({ code: providerCode })
      .update({ catalog_synced_at: trx.raw('clock_ms()') });
  });
}

/** Reads the provider's offers so far: all that is said of each, by the upstream's name of the offer. */
async function readOffered(trx: Transaction, providerCode: string): Promise<Map<string, string>> {
  const rows = await trx('listings').where({ provider_code: providerCode, offered: true }).select<Told[]>({
    offerId: 'offer_id',
    model: 'model',
    family: 'family',
    vramGb: 'vram_gb',
    gpuCount: 'gpu_count',
    pricePerHourCents: 'price_per_hour_cents',
    region: 'region',
    regionCode: 'region_code',
    interconnect: 'interconnect',
    maxBootMs: 'max_boot_ms',
    templates: 'template_ids',
    vcpus: 'vcpus',
    memoryGb: 'memory_gb',
    diskGb: 'disk_gb',
    networkMbps: 'network_mbps',
    cudaVersion: 'cuda_version',
    driverVersion: 'driver_version',
    availableUntil: 'available_until',
    host: 'host',
  });
  return new Map(rows.map((row) => [row.offerId, keyOf(row)]));
}

/** All that a listing says of an offer. */
type Told = ReturnType<typeof toldOf>;

/** Returns all that is said of an offer, null where nothing is. */
function toldOf({ machine, maxBootMs, templates, availableUntil, host, ...offer }: Offer) {
  return {
    ...offer,
    ...allFacts(machine),
    maxBootMs: maxBootMs ?? null,
    templates: templates ?? null,
    availableUntil: availableUntil ?? null,
    host: host ?? null,
  };
}

/** Returns the same text for two equal offers. */
function keyOf({ templates, availableUntil, ...offer }: Told): string {
  const values = Object.entries(offer)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, value]) => value);
  return [...values, templates?.join(' '), availableUntil?.getTime()].join('\n');
}

async function upsertListings(
  trx: Transaction,
  providerCode: string,
  offers: readonly Offer[],
): Promise<void> {
  const rows = offers.map((offer) => ({ ...toldOf(offer), id: newId('lst') }));
  await trx.raw(
    `insert into listings (id, provider_code, offer_id, model, family, vram_gb, gpu_count, price_per_hour_cents,
                           region, region_code, interconnect, max_boot_ms, template_ids, vcpus, memory_gb, disk_gb,
                           network_mbps, cuda_version, driver_version, available_until, host)
     select id, :providerCode, "offerId", model, family, "vramGb", "gpuCount", "pricePerHourCents", region,
            "regionCode", interconnect, "maxBootMs", templates, vcpus, "memoryGb", "diskGb", "networkMbps",
            "cudaVersion", "driverVersion", "availableUntil", host
       from jsonb_to_recordset(:rows::jsonb) as x
         (id text, "offerId" text, model text, family text, "vramGb" int, "gpuCount" int, "pricePerHourCents" int,
          region text, "regionCode" text, interconnect text, "maxBootMs" int, templates text[], vcpus int,
          "memoryGb" int, "diskGb" int, "networkMbps" int, "cudaVersion" text, "driverVersion" text,
          "availableUntil" timestamptz, host text)
     on conflict (provider_code, offer_id) do update set
       model = excluded.model, family = excluded.family, vram_gb = excluded.vram_gb,
       gpu_count = excluded.gpu_count, price_per_hour_cents = excluded.price_per_hour_cents,
       region = excluded.region, region_code = excluded.region_code, interconnect = excluded.interconnect,
       max_boot_ms = excluded.max_boot_ms, template_ids = excluded.template_ids, vcpus = excluded.vcpus,
       memory_gb = excluded.memory_gb, disk_gb = excluded.disk_gb, network_mbps = excluded.network_mbps,
       cuda_version = excluded.cuda_version, driver_version = excluded.driver_version,
       available_until = excluded.available_until, host = excluded.host,
       offered = true`,
    { providerCode, rows: JSON.stringify(rows) },
  );
}
