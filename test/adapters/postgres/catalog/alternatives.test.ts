import { listProvidersFor } from '../../../../adapters/postgres/catalog/provider-health.js';
import assert from 'node:assert/strict';
import { findAlternatives, type Besides } from '../../../../adapters/postgres/catalog/alternatives.js';
import type { Wanted } from '../../../../adapters/postgres/catalog/offers.js';
import type { Database } from '../../../../adapters/postgres/database.js';
import type { ListingRow } from '../../../../adapters/postgres/rows/tables.js';
import { insertListing, insertProvider } from '../../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

/** Countries, counts and families in few words: `FR x1 rtx-4090 at 52`. */
const told = (rows: readonly ListingRow[]) =>
  rows.map((row) => `${row.region_code} x${row.gpu_count} ${row.family} at ${row.price_per_hour_cents}`);

describe('alternatives', () => {
  let money: MoneyDatabase;
  let db: Database;
  before(async () => {
    money = await openMoneyDatabase();
    db = money.db;
  });
  beforeEach(async () => {
    await db('listings').delete();
    await insertProvider(db);
  });
  after(() => money.close());

  const wanted = {
    familyId: 'rtx-4090',
    gpuCount: 1,
    region: null,
    templateId: 'ubuntu-24-04',
    maxPricePerHourCents: null,
  };
  const none: Besides = { listings: [], countries: [], atAnyPrice: true };
  const find = async (
    asked: Partial<Omit<Wanted, 'providerCodes' | 'templateId'>> & { templateId?: string } = {},
    besides: Partial<Besides> = {},
  ) => {
    const all = { ...wanted, ...asked };
    const { codes: providerCodes } = await listProvidersFor(db, { templateId: all.templateId });
    return told(await findAlternatives(db, { ...all, providerCodes }, { ...none, ...besides }));
  };
  const offer = (region_code: string, price_per_hour_cents: number, columns: Partial<ListingRow> = {}) =>
    insertListing(db, { region_code, price_per_hour_cents, ...columns });
  const l4 = { family: 'l4', model: 'L4', vram_gb: 24 };
  const a4000 = { family: 'rtx-a4000', model: 'RTX_A4000', vram_gb: 16 };
  const h100 = { family: 'h100-80gb', model: 'H100_PCIE_80GB', vram_gb: 80 };

  it('are the same machine in other countries first: the cheapest of each country', async () => {
    await offer('FR', 60);
    await offer('FR', 55);
    await offer('SE', 70);
    await offer('NO', 50);
    await offer('FR', 10, { ...l4 });
    await offer('FR', 20, { gpu_count: 2 });
    assert.deepEqual(await find({}, { countries: ['NO'] }), [
      'FR x1 rtx-4090 at 55',
      'SE x1 rtx-4090 at 70',
      'FR x2 rtx-4090 at 20',
    ]);
  });

  it('are then other numbers of the GPU, and then families by memory and price', async () => {
    await offer('FR', 400, { gpu_count: 8 });
    await offer('FR', 10, a4000);
    await offer('FR', 300, h100);
    await offer('FR', 40, l4);
    await offer('FR', 35, { family: 'rtx-a5000', model: 'RTX_A5000', vram_gb: 24 });
    assert.deepEqual(await find(), ['FR x8 rtx-4090 at 400', 'FR x1 rtx-a5000 at 35', 'FR x1 l4 at 40']);
    await db('listings').whereIn('family', ['l4', 'rtx-a5000']).delete();
    assert.deepEqual(await find(), [
      'FR x8 rtx-4090 at 400',
      'FR x1 h100-80gb at 300',
      'FR x1 rtx-a4000 at 10',
    ]);
  });

  it('leave the region for the same machine alone', async () => {
    await offer('US', 50);
    await offer('US', 90, { gpu_count: 2 });
    await offer('US', 10, l4);
    await offer('FR', 30, l4);
    assert.deepEqual(await find({ region: 'eu' }), ['US x1 rtx-4090 at 50', 'FR x1 l4 at 30']);
  });

  it('are dearer than asked only as the same machine, when there is none at that price', async () => {
    await offer('FR', 60);
    await offer('FR', 61, { gpu_count: 2 });
    await offer('FR', 62, l4);
    assert.deepEqual(await find({ maxPricePerHourCents: 50 }), ['FR x1 rtx-4090 at 60']);
    assert.deepEqual(await find({ maxPricePerHourCents: 50 }, { atAnyPrice: false }), []);
  });

  it('are none of those that were tried, or are off sale, or can’t start the template', async () => {
    const tried = await offer('FR', 50);
    await offer('SE', 50, { offered: false });
    await offer('DE', 50, { template_ids: ['pytorch'] });
    await insertProvider(db, 'stale', 600_000);
    await offer('DK', 50, { provider_code: 'stale' });
    await insertProvider(db, 'picky');
    await db('providers')
      .where({ code: 'picky' })
      .update({ template_ids: ['pytorch'] });
    await offer('FI', 51, { provider_code: 'picky' });
    assert.deepEqual(await find({}, { listings: [tried.id] }), []);
    assert.deepEqual(await find({ templateId: 'pytorch' }, { listings: [tried.id] }), [
      'DE x1 rtx-4090 at 50',
      'FI x1 rtx-4090 at 51',
    ]);
  });
});
