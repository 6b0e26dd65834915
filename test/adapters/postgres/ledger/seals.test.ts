import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Database } from '../../../../adapters/postgres/database.js';
import { readLedger } from '../../../../adapters/postgres/ledger/ledger-reads.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';
import {
  insertRentals,
  readEverything,
  rowsOf,
  seal,
  sealWhole,
  unsealWhole,
  writeEntries,
  type Entry,
} from '../../../support/money/sealed.js';

const DAY = 86_400_000;

const gap = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 40_000 }) },
  { weight: 2, arbitrary: fc.constant(0) },
  // A clock that is set back, over the hour or over the month.
  { weight: 1, arbitrary: fc.constantFrom(-1, -5_400_000, -32 * DAY) },
  { weight: 1, arbitrary: fc.constantFrom(3_600_000, 40 * DAY) },
);
const amount = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(2_147_483_647, 2_147_483_648, 5_000_000_000) },
);
const entry = (rentals: number): fc.Arbitrary<Entry> =>
  fc.record({
    type: fc.oneof(
      { weight: 12, arbitrary: fc.constant('rental_charge' as const) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('refund' as const, 'adjustment' as const, 'processor_topup' as const),
      },
    ),
    rental: fc.nat(rentals - 1),
    cents: amount,
    gapMs: gap,
  });

describe('a ledger that is sealed', () => {
  let opened: MoneyDatabase;
  let db: Database;

  before(async () => {
    opened = await openMoneyDatabase();
    ({ db } = opened);
    await db.raw('select switch_sealing(true)');
  });
  after(() => opened.close());

  /** What int does not hold, a clock that is set back over a month, and one that stood for long. */
  const rare: readonly Entry[] = [5_000_000_000, 1, 2].map((cents, no) => ({
    ...{ type: 'rental_charge', rental: 0, cents, gapMs: [1_000, -32 * DAY, 40 * DAY][no]! },
  }));

  /** A charge of each rental. */
  const inTurn = (count: number): Entry[] =>
    Array.from({ length: count }, (_, rental) => ({
      ...{ type: 'rental_charge', rental, cents: 1, gapMs: 1_000 },
    }));

  for (const count of [1, 20]) {
    it(`is read to the byte as before, of ${count} rentals: in part, sealed whole, and unsealed`, async () => {
      const atOnce = { most: 0 };
      await fc.assert(
        fc.asyncProperty(
          fc.array(entry(count), { minLength: 1, maxLength: 50 }),
          fc.nat(50),
          async (some, place) => {
            const entries = some.toSpliced(place, 0, ...rare);
            const wallet = await insertWallet(db, 900_000_000_000);
            const rentals = await insertRentals(db, wallet, count);
            await writeEntries(db, wallet, rentals, entries);
            const [rows, before] = [await rowsOf(db, wallet), await readEverything(db, wallet, rentals)];
            await seal(db, wallet);
            assert.deepEqual(await readEverything(db, wallet, rentals), before, 'after one seal');
            await sealWhole(db, wallet);
            const charges = (await rowsOf(db, wallet)).filter(
              (row) => (row as { type: string }).type === 'rental_charge',
            );
            assert.ok(charges.length <= 1, 'no more than the newest entry has kept its row');
            assert.deepEqual(await readEverything(db, wallet, rentals), before, 'sealed whole');
            const seals = await db('ledger_seals').where({ wallet_id: wallet.id }).select('rental_nos');
            atOnce.most = Math.max(atOnce.most, ...seals.map(({ rental_nos: nos }) => nos.length));
            await unsealWhole(db, wallet);
            assert.deepEqual(await rowsOf(db, wallet), rows, 'the rows are back');
            assert.deepEqual(await readEverything(db, wallet, rentals), before, 'unsealed');
          },
        ),
        // Chance alone makes short stories at times, in which no seal holds several rentals.
        { numRuns: 4, examples: [[inTurn(count), 0]] },
      );
      assert.ok(atOnce.most >= Math.min(count, 4), `${atOnce.most} rentals in one seal`);
    });
  }

  it('finds charges below many seals that hold none', async () => {
    const wallet = await insertWallet(db, 1_000);
    const rentals = await insertRentals(db, wallet, 2);
    const one = { rental: 1, cents: 5, gapMs: 1_000 };
    const credits = Array.from({ length: 12 }, () => ({ ...one, type: 'processor_topup' as const }));
    await writeEntries(db, wallet, rentals, [{ ...one, type: 'rental_charge' }, ...credits]);
    const before = await readEverything(db, wallet, rentals);
    await sealWhole(db, wallet, 1);
    assert.deepEqual(await readEverything(db, wallet, rentals), before);
  });

  it('opens as many seals as a page needs, and as much of each, whatever its size', async () => {
    const wallet = await insertWallet(db, 1_000);
    const rentals = await insertRentals(db, wallet, 2);
    const one = { type: 'rental_charge' as const, cents: 1, gapMs: 1_000 };
    await writeEntries(
      db,
      wallet,
      rentals,
      Array.from({ length: 650 }, (_, no) => ({ ...one, rental: no % 3 === 0 ? 1 : 0 })),
    );
    const pages = (): Promise<unknown> =>
      Promise.all(
        [undefined, ...rentals].flatMap((rentalId) =>
          [1, 10, 199, 200, 201, 400, 650].flatMap((limit) =>
            [652, 640, 202, 2].map((beforeSeq) =>
              readLedger(db, wallet.user_id, { rentalId, beforeSeq }, limit),
            ),
          ),
        ),
      );
    const before = await pages();
    await sealWhole(db, wallet, 600);
    assert.deepEqual(await pages(), before);
  });

  it('counts milliseconds exactly, whatever the year', async () => {
    const { rows } = await db.raw<{ rows: { told: number; wrong: number }[] }>(
      `select count(*)::int as told,
              count(*) filter (where at <> timestamptz '1970-01-01 00:00:00+00' + ms * interval '1 millisecond'
                                  or epoch_ms(at) <> ms)::int as wrong
         from (select ms, from_epoch_ms(ms) as at
                 from (select n * 155999989::bigint as ms from generate_series(0, 55000) n) sample) told`,
    );
    assert.deepEqual(rows, [{ told: 55_001, wrong: 0 }]);
  });
});
