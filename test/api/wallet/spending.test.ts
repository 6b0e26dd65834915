import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Spending, Statement } from '@gpu-rental/client';
import type { Database } from '../../../adapters/postgres/database.js';
import type { WalletRow } from '../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../domain/ids.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { credit, getWallet } from '../../support/money/money.js';
import { insertRentals, seal, sealWhole, writeEntries, type Entry } from '../../support/money/sealed.js';

const HOUR = 3_600_000;

/** Entries are written from 2026-01-31T22:00:00Z on. */
const charge = (rental: number, cents: number, gapMs = 0): Entry => ({
  type: 'rental_charge',
  ...{ rental, cents, gapMs },
});

describe('spending by day and rental', () => {
  let api: TestApi;
  let db: Database;
  let user: SignedIn;
  let wallet: WalletRow;
  before(async () => {
    api = await startApi();
    ({ db } = api);
    await db.raw('select switch_sealing(true)');
  });
  beforeEach(async () => {
    user = await api.signIn();
    await credit(db, user.user.id, 100_000);
    wallet = await getWallet(db, user.user.id);
    await db.raw('alter table ledger_entries disable trigger user');
    await db('ledger_entries')
      .where({ wallet_id: wallet.id })
      .update({ created_at: new Date('2026-01-01') });
    await db.raw('alter table ledger_entries enable trigger user');
  });
  after(() => api.stop());

  const within = (from: string, to: string): string => new URLSearchParams({ from, to }).toString();

  async function spending(from: string, to: string): Promise<Spending> {
    const { status, body } = await user.get(`/v1/billing/spending?${within(from, to)}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as Spending;
  }

  async function write(entries: readonly Entry[], rentals = 3): Promise<RentalId[]> {
    const ids = await insertRentals(db, wallet, rentals);
    await writeEntries(db, wallet, ids, entries);
    return ids;
  }

  it('tells each day in UTC, and in it what each rental cost, the costliest first', async () => {
    const [first, second] = await write([
      charge(0, 5),
      charge(1, 70),
      charge(0, 6),
      charge(0, 8, 2 * HOUR),
      { type: 'refund', rental: 0, cents: 3, gapMs: 0 },
      { type: 'processor_topup', rental: 0, cents: 500, gapMs: 0 },
    ]);
    await db('rentals')
      .where({ id: second! })
      .update({ name: 'training', family: 'h100-80gb', gpu_count: 8 });
    const answer = await spending('2026-01-15', '2026-02-15');
    const { days, ...rest } = answer;
    assert.deepEqual(rest, {
      ...{ from: '2026-01-15T00:00:00.000Z', to: '2026-02-15T00:00:00.000Z' },
      ...{ openingBalanceCents: 100_000, closingBalanceCents: 100_000 - 89 + 503 },
    });
    const unnamed = days[0]?.rentals[1];
    assert.deepEqual(days, [
      {
        from: '2026-01-31T00:00:00.000Z',
        ...{ entries: 3, chargedCents: 81, refundedCents: 0, amountCents: -81 },
        rentals: [
          {
            ...{ rentalId: second, name: 'training', family: 'h100-80gb', gpuCount: 8 },
            ...{ entries: 1, chargedCents: 70, refundedCents: 0 },
          },
          {
            ...{ rentalId: first, name: null, family: unnamed?.family, gpuCount: unnamed?.gpuCount },
            ...{ entries: 2, chargedCents: 11, refundedCents: 0 },
          },
        ],
      },
      {
        from: '2026-02-01T00:00:00.000Z',
        ...{ entries: 3, chargedCents: 8, refundedCents: 3, amountCents: 495 },
        rentals: [{ ...unnamed, entries: 2, chargedCents: 8, refundedCents: 3 }],
      },
    ]);
    // One seal, in which one rental's charges lie in two days and the other's in one.
    assert.deepEqual([await seal(db, wallet, 1), await seal(db, wallet)], [1, 6]);
    assert.deepEqual(await spending('2026-01-15', '2026-02-15'), answer);
  });

  it('tells twenty rentals of a day one by one, and the rest together', async () => {
    const ids = await write(
      Array.from({ length: 23 }, (_, rental) => charge(rental, 10 + rental)),
      23,
    );
    for (const sealed of [false, true]) {
      if (sealed) await sealWhole(db, wallet);
      const [day, ...more] = (await spending('2026-01-31', '2026-02-02')).days;
      assert.deepEqual(more, []);
      assert.deepEqual(
        day?.rentals.map(({ rentalId }) => rentalId),
        ids.slice(3).reverse(),
      );
      assert.deepEqual(day.otherRentals, {
        ...{ rentals: 3, entries: 3, chargedCents: 10 + 11 + 12, refundedCents: 0 },
      });
    }
  });

  it('agrees with the statement for any ledger and any instants, sealed in part and whole', async () => {
    const entry = fc.record({
      type: fc.constantFrom('rental_charge', 'rental_charge', 'refund', 'adjustment', 'processor_topup'),
      rental: fc.nat(2),
      cents: fc.integer({ min: 1, max: 9 }),
      gapMs: fc.constantFrom(0, 1_000, 40 * 60_000, 7 * HOUR, 30 * HOUR),
    }) satisfies fc.Arbitrary<Entry>;
    const instant = fc
      .integer({ min: -24, max: 24 * 8 })
      .map((hours) => new Date(Date.UTC(2026, 0, 31, 22) + hours * HOUR).toISOString());
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 1, maxLength: 40 }),
        fc.array(fc.tuple(instant, instant), { minLength: 1, maxLength: 5 }),
        async (entries, instants) => {
          user = await api.signIn();
          await credit(db, user.user.id, 1_000);
          wallet = await getWallet(db, user.user.id);
          await write(entries);
          const spans = instants.filter(([from, to]) => from < to);
          const answers = (): Promise<string[]> =>
            Promise.all(spans.map(async ([from, to]) => JSON.stringify(await spending(from, to))));
          const before = await answers();
          for (const [place, [from, to]] of spans.entries()) {
            const { body } = await user.get(`/v1/billing/statement?${within(from, to)}`);
            assert.deepEqual(summed(JSON.parse(before[place]!) as Spending), stated(body as never));
          }
          await db.raw('select seal_wallet(?, 1, 5)', [wallet.id]);
          assert.deepEqual(await answers(), before, 'sealed in part');
          await sealWhole(db, wallet);
          assert.deepEqual(await answers(), before, 'sealed whole');
        },
      ),
      { numRuns: 12 },
    );
  });

  const refused: [why: string, query: string, field: string][] = [
    ['no beginning', 'to=2026-01-01', 'from'],
    ['no end', 'from=2026-01-01', 'to'],
    ['an end before the beginning', within('2026-01-02', '2026-01-01'), 'to'],
    ['more than 31 days', within('2026-01-01', '2026-02-01T00:00:00.001Z'), 'to'],
  ];
  for (const [why, query, field] of refused) {
    it(`refuses ${why}, and names the field`, async () => {
      const { status, body } = await user.get(`/v1/billing/spending?${query}`);
      const { fields } = body.details as unknown as { fields: { field: string }[] };
      assert.deepEqual(
        [status, body.error, ...fields.map((fault) => fault.field)],
        [400, 'validation_failed', field],
      );
    });
  }

  it('takes 31 days, and is empty where there is no entry', async () => {
    const { days, openingBalanceCents } = await spending('2025-11-01', '2025-12-02');
    assert.deepEqual([days, openingBalanceCents], [[], 0]);
  });
});

/** What the days of an answer sum up to. */
function summed({ openingBalanceCents, closingBalanceCents, days }: Spending) {
  const rentals = new Map<string, { entries: number; chargedCents: number; refundedCents: number }>();
  let movedCents = 0;
  for (const day of days) {
    movedCents += day.amountCents;
    for (const { rentalId, entries, chargedCents, refundedCents } of day.rentals) {
      const sum = rentals.get(rentalId) ?? { entries: 0, chargedCents: 0, refundedCents: 0 };
      rentals.set(rentalId, {
        entries: sum.entries + entries,
        chargedCents: sum.chargedCents + chargedCents,
        refundedCents: sum.refundedCents + refundedCents,
      });
    }
  }
  const entries = days.reduce((total, day) => total + day.entries, 0);
  return { openingBalanceCents, closingBalanceCents, movedCents, entries, rentals };
}

/** The same of a statement. */
function stated({ openingBalanceCents, closingBalanceCents, totals, rentals }: Statement) {
  return {
    ...{ openingBalanceCents, closingBalanceCents },
    movedCents: totals.reduce((total, { amountCents }) => total + amountCents, 0),
    entries: totals.reduce((total, { entries }) => total + entries, 0),
    rentals: new Map(
      rentals.map(({ rentalId, entries, chargedCents, refundedCents }) => [
        rentalId,
        { entries, chargedCents, refundedCents },
      ]),
    ),
  };
}
