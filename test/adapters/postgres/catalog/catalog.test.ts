import assert from 'node:assert/strict';
import { ensureProvider, replaceListings } from '../../../../adapters/postgres/catalog/catalog.js';
import { listLiveListings, summarizeFamilies } from '../../../../adapters/postgres/catalog/listings.js';
import type { Offer } from '../../../../adapters/providers/provider.js';
import type { ListingRow } from '../../../../adapters/postgres/rows/tables.js';
import { insertListing } from '../../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

const offer = (offerId: string, over: Partial<Offer> = {}): Offer => ({
  offerId,
  model: 'RTX_4090',
  family: 'rtx-4090',
  vramGb: 24,
  gpuCount: 1,
  pricePerHourCents: 50,
  region: 'Oslo, Norway',
  regionCode: 'NO',
  interconnect: 'pcie',
  ...over,
});

describe("the sync of a provider's catalog", () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  beforeEach(async () => {
    await database.db('listings').delete();
    await ensureProvider(database.db, 'lab');
    await ensureProvider(database.db, 'other');
  });
  after(() => database.close());

  const sync = (...offers: Offer[]) => replaceListings(database.db, 'lab', offers);
  const syncedAt = async () =>
    (await database.db('providers').where({ code: 'lab' }).first())?.catalog_synced_at;

  async function live(): Promise<Record<string, ListingRow>> {
    const rows = await listLiveListings(database.db, {}, undefined, 100);
    return Object.fromEntries(rows.map((row) => [row.offer_id, row]));
  }

  /** The version of each row, which changes with every write of the row. */
  async function versions(): Promise<Record<string, string>> {
    const { rows } = await database.db.raw<{ rows: { offer_id: string; version: string }[] }>(
      `select offer_id, concat(ctid, ' ', xmin, ' ', xmax) as version from listings`,
    );
    return Object.fromEntries(rows.map((row) => [row.offer_id, row.version]));
  }

  /** Asserts that the families' counts equal a count of the live listings. */
  async function assertCounted(): Promise<void> {
    const counted = new Map<string, { fromPricePerHourCents: number; liveCount: number }>();
    for (const row of Object.values(await live())) {
      const before = counted.get(row.family);
      counted.set(row.family, {
        fromPricePerHourCents: Math.min(before?.fromPricePerHourCents ?? Infinity, row.price_per_hour_cents),
        liveCount: (before?.liveCount ?? 0) + 1,
      });
    }
    const told = (await summarizeFamilies(database.db)).map(({ family, ...rest }) => [family, rest] as const);
    assert.deepEqual(new Map(told), counted);
  }

  it('shows what the provider offers, with all that it says of it', async () => {
    await sync(offer('a'), offer('b', { model: 'B200', family: 'b200', vramGb: 180, gpuCount: 8 }));
    const { a, b } = await live();
    assert.deepEqual([a?.model, a?.price_per_hour_cents, a?.region_code], ['RTX_4090', 50, 'NO']);
    assert.deepEqual([b?.model, b?.family, b?.vram_gb, b?.gpu_count], ['B200', 'b200', 180, 8]);
    await assertCounted();
  });

  it('keeps what the machine has, and writes it anew once it has changed', async () => {
    const machine = { vcpus: 16, memoryGb: 64, diskGb: 50, networkMbps: 900, cudaVersion: '12.8' };
    const availableUntil = new Date('2026-12-24T12:00:00.123Z');
    await sync(offer('a', { machine, availableUntil, host: '5001' }), offer('b'));
    const told = async (id: string) => {
      const row = (await live())[id]!;
      const { vcpus, memory_gb, disk_gb, network_mbps, cuda_version, driver_version } = row;
      return [
        vcpus,
        memory_gb,
        disk_gb,
        network_mbps,
        cuda_version,
        driver_version,
        row.available_until,
        row.host,
      ];
    };
    assert.deepEqual(await told('a'), [16, 64, 50, 900, '12.8', null, availableUntil, '5001']);
    assert.deepEqual(new Set(await told('b')), new Set([null]));
    const before = await versions();
    await sync(
      offer('a', { machine: { ...machine }, availableUntil, host: '5001' }),
      offer('b', { machine: {} }),
    );
    assert.deepEqual(await versions(), before);
    await sync(offer('a', { machine: { ...machine, vcpus: 15 } }), offer('b'));
    assert.deepEqual(await told('a'), [15, 64, 50, 900, '12.8', null, null, null]);
  });

  it('takes an offer that vanished out at once, and gives it its id again when it comes back', async () => {
    await sync(offer('a'), offer('b'));
    const { b } = await live();
    await sync(offer('a'));
    assert.deepEqual(Object.keys(await live()), ['a']);
    await assertCounted();
    await sync(offer('a'), offer('b', { pricePerHourCents: 40 }));
    const back = (await live())['b'];
    assert.equal(back?.id, b?.id);
    assert.equal(back?.price_per_hour_cents, 40);
    await assertCounted();
  });

  it('keeps the id of an offer of which anything else changes', async () => {
    await sync(offer('a'));
    const { a } = await live();
    const changes: Partial<Offer>[] = [
      { model: 'B200' },
      { family: 'b200' },
      { vramGb: 180 },
      { gpuCount: 8 },
      { pricePerHourCents: 900 },
      { region: 'Bergen, Norway' },
      { regionCode: 'SE' },
      { interconnect: 'sxm' },
    ];
    const columns = [
      ...(['model', 'family', 'vram_gb', 'gpu_count', 'price_per_hour_cents', 'region'] as const),
      ...(['region_code', 'interconnect'] as const),
    ];
    for (const [index, change] of changes.entries()) {
      await sync(offer('a', change));
      const now = (await live())['a']!;
      assert.equal(now.id, a?.id);
      assert.equal(now[columns[index]!], Object.values(change)[0]);
      await assertCounted();
    }
  });

  it('takes everything out when the provider offers nothing any more', async () => {
    await sync(offer('a'), offer('b'));
    await sync();
    assert.deepEqual(await live(), {});
    assert.deepEqual(await summarizeFamilies(database.db), []);
  });

  it('writes nothing of an offer that stayed the same, and is fresh all the same', async () => {
    await sync(offer('a'), offer('b'));
    await database.db('providers').update({ catalog_synced_at: null });
    const before = await versions();
    await sync(offer('a'), offer('b', { pricePerHourCents: 51 }));
    const after = await versions();
    assert.equal(after['a'], before['a']);
    assert.notEqual(after['b'], before['b']);
    assert.ok(await syncedAt());
  });

  it('leaves the listings of other providers alone', async () => {
    await replaceListings(database.db, 'other', [offer('a', { pricePerHourCents: 7 })]);
    await sync(offer('a', { pricePerHourCents: 9 }));
    await sync();
    assert.equal((await live())['a']?.price_per_hour_cents, 7);
    await assertCounted();
  });

  it('changes nothing when it fails in the middle: not the listings, not the counts, not how fresh they are', async () => {
    await sync(offer('a'), offer('b'));
    const before = [await live(), await syncedAt(), await summarizeFamilies(database.db)];
    // The vanished and the changed offer are written before the database refuses the impossible one.
    await assert.rejects(sync(offer('a', { pricePerHourCents: 60 }), offer('c', { pricePerHourCents: 0 })));
    assert.deepEqual([await live(), await syncedAt(), await summarizeFamilies(database.db)], before);
  });

  it('counts no family of a provider whose last sync is too old', async () => {
    await replaceListings(database.db, 'other', [offer('x', { pricePerHourCents: 7 })]);
    await sync(offer('a'));
    await database
      .db('providers')
      .where({ code: 'other' })
      .update({ catalog_synced_at: database.db.raw("clock_ms() - interval '121 seconds'") });
    assert.deepEqual(await summarizeFamilies(database.db), [
      { family: 'rtx-4090', fromPricePerHourCents: 50, liveCount: 1 },
    ]);
  });

  it('ends as the last of several syncs at once, with the families counted', async () => {
    const turns = Array.from({ length: 8 }, (_, turn) => [
      offer('a', { pricePerHourCents: 10 + turn }),
      offer(`only-${turn}`),
    ]);
    await Promise.all(turns.map((offers) => sync(...offers)));
    const now = await live();
    const last = (now['a']?.price_per_hour_cents ?? 0) - 10;
    assert.deepEqual(Object.keys(now).sort(), ['a', `only-${last}`]);
    await assertCounted();
  });

  it('counts families whoever writes the listings', async () => {
    await sync(offer('a'));
    await Promise.all(Array.from({ length: 6 }, () => insertListing(database.db)));
    await assertCounted();
    await database.db('listings').where({ offer_id: 'a' }).delete();
    await assertCounted();
  });
});
