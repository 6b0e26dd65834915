import assert from 'node:assert/strict';
import { ensureProvider, replaceListings } from '../../../../adapters/postgres/catalog/catalog.js';
import { readOfferHistory, recordOfferHour } from '../../../../adapters/postgres/catalog/offer-history.js';
import { readClock } from '../../../../adapters/postgres/clock.js';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import type { Offer } from '../../../../adapters/providers/provider.js';
import { countriesOf } from '../../../../domain/catalog/regions.js';
import { databaseRoles } from '../../../../migrations/roles.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

const HOUR = 3_600_000;

const offer = (offerId: string, over: Partial<Offer> = {}): Offer => ({
  offerId,
  ...{ model: 'RTX_4090', family: 'rtx-4090', vramGb: 24, gpuCount: 1, pricePerHourCents: 50 },
  ...{ region: 'Oslo, Norway', regionCode: 'NO', interconnect: 'pcie' },
  ...over,
});

describe('the history of what is on sale', () => {
  let database: MoneyDatabase;
  let worker: Database;
  let api: Database;
  before(async () => {
    database = await openMoneyDatabase();
    // Hours are those of UTC, also where the clocks are changed and an hour comes twice.
    await database.db.raw(`do $$ begin
      execute format('alter database %I set timezone = ''Australia/Lord_Howe''', current_database()); end $$`);
    worker = openDatabase(database.url, 2, 'test-worker', databaseRoles.worker);
    api = openDatabase(database.url, 2, 'test-api', databaseRoles.api);
  });
  async function forget(): Promise<void> {
    for (const table of ['offer_hours', 'catalog_hours', 'listings'] as const)
      await database.db(table).delete();
    for (const code of ['lab', 'other']) {
      await ensureProvider(database.db, code);
      await database
        .db('providers')
        .where({ code })
        .update({ out_until: null, out_reason: null, paused_at: null, paused_by: null, paused_reason: null });
    }
  }
  after(async () => {
    await Promise.all([worker.destroy(), api.destroy()]);
    await database.close();
  });

  const hourNow = async (): Promise<number> => Math.floor((await readClock(database.db)).getTime() / HOUR);

  /** What is looked at in one hour: looked at anew from the beginning where the hour changed meanwhile. */
  const within = (title: string, look: () => Promise<void>) =>
    it(title, async () => {
      for (;;) {
        await forget();
        const hour = await hourNow();
        try {
          await look();
          return;
        } catch (error) {
          if ((await hourNow()) === hour) throw error;
        }
      }
    });

  /** Reads the catalog of an upstream, as its watcher does. */
  async function look(code: string, ...offers: Offer[]): Promise<void> {
    await replaceListings(worker, code, offers);
    await recordOfferHour(worker, code);
  }

  /** Makes all that was recorded so far as old as if so many hours had passed. */
  async function age(hours: number): Promise<void> {
    for (const table of ['offer_hours', 'catalog_hours']) {
      await database.db.raw(`update ${table} set hour = hour - :hours::int * interval '1 hour'`, { hours });
    }
  }

  const history = async (familyId = 'rtx-4090', region?: string) =>
    (
      await readOfferHistory(api, {
        ...{ familyId, days: 90 },
        regionCodes: region === undefined ? undefined : countriesOf(region),
      })
    ).map(({ at, lowestPricePerHourCents, available }) => {
      assert.equal(at.getTime() % HOUR, 0, 'an hour of UTC');
      return [lowestPricePerHourCents, available];
    });

  within('is empty before anybody looked', async () => {
    assert.deepEqual(await history(), []);
  });

  within('tells the lowest price of the hour, and how many there were at the last look', async () => {
    await look('lab', offer('a', { pricePerHourCents: 60 }), offer('b', { pricePerHourCents: 45 }));
    await look('lab', offer('a', { pricePerHourCents: 40 }), offer('b'), offer('c'));
    await look('lab', offer('a', { pricePerHourCents: 70 }));
    assert.deepEqual(await history(), [[40, 1]]);
  });

  within('sums what several upstreams have, and knows countries and their groups', async () => {
    await look('lab', offer('a'), offer('b', { regionCode: 'US', pricePerHourCents: 30 }));
    await look(
      'other',
      offer('c', { regionCode: 'SE', pricePerHourCents: 44 }),
      offer('d', { family: 'b200' }),
    );
    assert.deepEqual(await history(), [[30, 3]]);
    assert.deepEqual(await history('rtx-4090', 'eu'), [[44, 2]]);
    assert.deepEqual(await history('rtx-4090', 'us'), [[30, 1]]);
    assert.deepEqual(await history('b200', 'apac'), [[null, 0]]);
    assert.deepEqual(await history('b200'), [[50, 1]]);
  });

  within('tells an hour without an offer, and leaves out one in which nobody looked', async () => {
    await look('lab', offer('a'));
    await age(1);
    await look('lab');
    await age(2);
    await look('lab', offer('a'));
    assert.deepEqual(await history(), [
      [50, 1],
      [null, 0],
      [50, 1],
    ]);
    const hours = await readOfferHistory(api, { familyId: 'rtx-4090', regionCodes: undefined, days: 90 });
    const gaps = hours.slice(1).map(({ at }, index) => (at.getTime() - hours[index]!.at.getTime()) / HOUR);
    assert.deepEqual(gaps, [1, 2]);
  });

  within('remembers the price of what was sold out within the hour', async () => {
    await look('lab', offer('a'));
    await look('lab', offer('x', { family: 'b200' }));
    assert.deepEqual(await history(), [[50, 0]]);
  });

  within('counts an upstream that is off sale as one that has nothing on sale', async () => {
    await look('lab', offer('a'), offer('b'));
    await look('other', offer('c', { pricePerHourCents: 55 }));
    const off = {
      out_until: database.db.raw(`clock_ms() + interval '1 minute'`),
      out_reason: 'no_funds' as const,
    };
    await database.db('providers').where({ code: 'lab' }).update(off);
    await look('lab', offer('a'), offer('b'));
    assert.deepEqual(await history(), [[50, 1]], 'what it had before stays the price of the hour');
    await age(1);
    await look('lab', offer('a'));
    await look('other', offer('c', { pricePerHourCents: 55 }));
    assert.deepEqual((await history()).at(-1), [55, 1]);
    await database
      .db('providers')
      .where({ code: 'other' })
      .update({
        ...{ paused_at: new Date(), paused_by: 'alice', paused_reason: 'test' },
      });
    await age(1);
    await look('other', offer('c'));
    assert.deepEqual((await history()).at(-1), [null, 0]);
  });

  within('ends after ninety days', async () => {
    await look('lab', offer('a'));
    await age(90 * 24 + 1);
    assert.deepEqual(await history(), []);
    await age(-1);
    assert.deepEqual(await history(), [[50, 1]]);
  });

  within('writes nothing when nothing has changed', async () => {
    const versions = async () =>
      (await database.db.raw<{ rows: object[] }>('select ctid, xmin from offer_hours order by 1')).rows;
    await look('lab', offer('a'), offer('b', { regionCode: 'US' }));
    const before = await versions();
    await look('lab', offer('a'), offer('b', { regionCode: 'US' }));
    assert.deepEqual(await versions(), before);
  });
});
