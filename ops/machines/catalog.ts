import type { Command } from 'commander';
import { findCheapestOffer } from '../../adapters/postgres/catalog/offers.js';
import { readStarts } from '../../adapters/postgres/catalog/starts.js';
import { listProviders } from '../../adapters/postgres/catalog/provider-health.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import type { Database } from '../../adapters/postgres/database.js';
import { using, type OpsContext } from '../context.js';
import { addOdditiesCommand } from './oddities.js';
import { countOf, positiveCentsOf } from '../options.js';
import { printRows, readable, type Print } from '../output.js';

type Wanted = Print & {
  readonly family: string;
  readonly gpus: number;
  readonly region?: string;
  readonly provider?: readonly string[];
  readonly maxPrice?: number;
  readonly limit: number;
};

/** `ops catalog …`: the offers that a request would get, and the skipped parts of the upstreams' answers. */
export function addCatalogCommands(program: Command, context: OpsContext): void {
  const catalog = program.command('catalog').description('The offers, as users can rent them.');
  readable(catalog.command('offers'))
    .description('Shows which machines a request would get, in the order they are tried.')
    .requiredOption('--family <id>', 'such as rtx-4090')
    .option('--gpus <count>', 'how many', countOf, 1)
    .option('--region <code>', 'a country, or us, eu, apac')
    .option('--provider <code...>', 'only from these upstreams')
    .option('--max-price <cents>', 'maximum price of an hour', positiveCentsOf)
    .option('--limit <count>', 'how many at most', countOf, 10)
    .addHelpText('after', '\nExample:\n  ops catalog offers --family h100 --gpus 8 --region eu')
    .action(({ json, ...wanted }: Wanted) =>
      using(context, async (db) => {
        printRows(await offersInOrder(db, wanted), json, (row) =>
          [
            row.id,
            `${row.price_per_hour_cents} cents/h`,
            `${row.gpu_count} x ${row.model}`,
            `${row.provider_code} ${row.offer_id}`,
            `${row.region} (${row.region_code})`,
          ].join('  '),
        );
      }),
    );
  addOdditiesCommand(catalog, context);
}

/**
 * Lists offers in the order in which openRental asks for them: each that had no capacity is left out of the next look.
 */
async function offersInOrder(db: Database, wanted: Omit<Wanted, 'json'>): Promise<ListingRow[]> {
  const providerCodes = wanted.provider ?? (await listProviders(db)).map(({ code }) => code);
  const starts = await readStarts(db);
  const offers: ListingRow[] = [];
  while (offers.length < wanted.limit) {
    const offer = await findCheapestOffer(
      db,
      {
        familyId: wanted.family,
        gpuCount: wanted.gpus,
        region: wanted.region ?? null,
        providerCodes,
        maxPricePerHourCents: wanted.maxPrice ?? null,
        templateId: null,
      },
      offers.map(({ id }) => id),
      starts,
    );
    if (!offer) break;
    offers.push(offer);
  }
  return offers;
}
