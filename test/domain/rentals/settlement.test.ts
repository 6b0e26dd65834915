import assert from 'node:assert/strict';
import fc from 'fast-check';
import { accruedCents, finalCents } from '../../../domain/metering/metering.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import {
  costOfSettled,
  endOfLost,
  fundingOf,
  refundOfFailed,
  settlementOf,
  type BilledRental,
  type LostRental,
} from '../../../domain/rentals/settlement.js';

const began = Date.UTC(2026, 10, 1);
const after = (ms: number) => new Date(began + ms);

/** A cent a second, ended after 600 s, nothing charged yet. */
function rentalOf(more: Partial<BilledRental> = {}): BilledRental {
  return {
    ...{ pricePerHourCents: 3_600, maxSpendCents: null, runningAt: after(0), endedAt: after(600_000) },
    ...{ autoStopAt: null, spendLimitAt: null, settledAt: null, chargedCents: 0, holdCents: 3_600 },
    ...more,
  };
}

describe('the settlement of a rental', () => {
  it('charges what is missing, its own hold first, and releases the rest of the hold', () => {
    const settled = settlementOf(rentalOf({ chargedCents: 590, holdCents: 50 }), 100);
    assert.deepEqual(settled.funding, { fromHoldCents: 10, fromAvailableCents: 0 });
    assert.deepEqual([settled.chargedCents, settled.refundedCents, settled.releasedCents], [600, 0, 40]);
    assert.deepEqual(fundingOf(80, { holdCents: 50, availableCents: 20 }), {
      ...{ fromHoldCents: 50, fromAvailableCents: 20 },
    });
  });

  it('gives back what was charged beyond the final price', () => {
    const settled = settlementOf(rentalOf({ chargedCents: 700, holdCents: 5 }), 100);
    assert.deepEqual([settled.chargedCents, settled.refundedCents, settled.releasedCents], [700, 100, 5]);
  });

  it('costs nothing before it runs', () => {
    const { chargedCents, releasedCents } = settlementOf(rentalOf({ runningAt: null }), 100);
    assert.deepEqual([chargedCents, releasedCents], [0, 3_600]);
  });

  it('asks by an invoice for usage that the money did not cover, from its least amount on', () => {
    const short = (missing: number) => settlementOf(rentalOf({ holdCents: 0 }), 600 - missing);
    assert.deepEqual([short(50).overageCents, short(50).writtenOffCents], [50, 0]);
    assert.deepEqual([short(49).overageCents, short(49).writtenOffCents], [0, 49]);
  });

  it('never asks for the cent that only rounding adds', () => {
    const usage = { endedAt: after(99_600), holdCents: 0 };
    const settled = settlementOf(rentalOf(usage), 49);
    assert.deepEqual([settled.overageCents, settled.writtenOffCents], [50, 1]);
  });

  it('never goes beyond a limit, whoever wrote the end', () => {
    assert.deepEqual(settlementOf(rentalOf({ autoStopAt: after(60_000) }), 0).endedAt, after(60_000));
    assert.deepEqual(settlementOf(rentalOf({ spendLimitAt: after(60_000) }), 0).endedAt, after(60_000));
    assert.throws(() => settlementOf(rentalOf({ endedAt: null }), 0), /not ended/);
  });

  it('splits the final price into what is paid, asked for and written off, whatever was charged', () => {
    const cents = fc.nat(5_000);
    fc.assert(
      fc.property(
        fc.record({
          ...{ price: fc.integer({ min: 1, max: 400_000 }), ms: fc.nat(7_200_000), funds: cents },
          ...{ charged: cents, hold: cents, limit: fc.option(cents) },
        }),
        ({ price, ms, funds, charged, hold, limit }) => {
          const rental = rentalOf({
            ...{ pricePerHourCents: price, maxSpendCents: limit, endedAt: after(ms) },
            ...{ chargedCents: charged, holdCents: hold },
          });
          const settled = settlementOf(rental, funds);
          const { funding, chargedCents, refundedCents, overageCents, writtenOffCents } = settled;
          const final = finalCents(price, ms, limit);
          assert.equal(chargedCents - refundedCents + overageCents + writtenOffCents, final);
          assert.equal(funding.fromHoldCents + settled.releasedCents, hold);
          assert.equal(chargedCents, charged + funding.fromHoldCents + funding.fromAvailableCents);
          assert.ok(funding.fromAvailableCents >= 0 && funding.fromAvailableCents <= funds);
          assert.ok(overageCents === 0 || overageCents >= 50);
          assert.ok(overageCents <= accruedCents(price, ms));
        },
      ),
    );
  });

  it('of one that failed charges its hold and gives everything back', () => {
    const { funding, chargedCents, refundedCents, releasedCents } = refundOfFailed(
      rentalOf({ chargedCents: 30, holdCents: 70 }),
    );
    assert.deepEqual(funding, { fromHoldCents: 70, fromAvailableCents: 0 });
    assert.deepEqual([chargedCents, refundedCents, releasedCents], [100, 100, 0]);
  });
});

describe('the end of a lost machine (decision 77)', () => {
  /** It runs, and was last seen alive after 300 s. */
  const lostOf = (more: Partial<LostRental> = {}) =>
    endOfLost({
      ...rentalOf({ endedAt: null }),
      neverAnswered: false,
      ...{ lastAliveAt: after(300_000), stopAskedAt: null, moneyEndedAt: null, fullRefundsToday: 0 },
      ...more,
    });

  it('is when it was last seen alive, and no earlier than it began', () => {
    const end = lostOf();
    assert.deepEqual([end?.kind, end?.endedAt], ['billed', after(300_000)]);
    assert.deepEqual(lostOf({ lastAliveAt: after(-5_000) })?.endedAt, after(0));
  });

  it('is free up to its first minute, to the millisecond', () => {
    assert.equal(lostOf({ lastAliveAt: after(60_000) })?.kind, 'refunded');
    assert.equal(lostOf({ lastAliveAt: after(60_001) })?.kind, 'billed');
  });

  it('is never free for own software that was billed before anything of it answered', () => {
    const end = lostOf({ lastAliveAt: after(1_000), neverAnswered: true });
    assert.deepEqual([end?.kind, end?.kind === 'billed' && end.isRefused], ['billed', false]);
  });

  it('is billed all the same, and told to operators, beyond the refunds of a day', () => {
    const young = { lastAliveAt: after(40_000) };
    const { fullRefundsPerDay } = rentalLimits;
    assert.equal(lostOf({ ...young, fullRefundsToday: fullRefundsPerDay - 1 })?.kind, 'refunded');
    const end = lostOf({ ...young, fullRefundsToday: fullRefundsPerDay });
    assert.deepEqual([end?.kind, end?.kind === 'billed' && end.isRefused], ['billed', true]);
    const later = lostOf({ fullRefundsToday: fullRefundsPerDay });
    assert.equal(later?.kind === 'billed' && later.isRefused, false);
  });

  for (const cause of ['stopAskedAt', 'autoStopAt', 'spendLimitAt', 'endedAt'] as const) {
    it(`is none where ${cause} came first, or at the same moment`, () => {
      assert.equal(lostOf({ [cause]: after(300_000) }), undefined);
      assert.equal(lostOf({ [cause]: after(300_001) })?.kind, 'billed');
    });
  }

  it('is none for a rental that never ran, or that is settled', () => {
    assert.equal(lostOf({ runningAt: null }), undefined);
    assert.equal(lostOf({ settledAt: after(1) }), undefined);
  });

  it('is the end of the money where that came first', () => {
    assert.deepEqual(lostOf({ moneyEndedAt: after(299_999) }), { kind: 'unpaid', endedAt: after(299_999) });
    assert.equal(lostOf({ moneyEndedAt: after(300_000) })?.kind, 'billed');
  });
});

describe('what a settled rental gave back', () => {
  const cents = { chargedCents: 500, refundedCents: 500, releasedCents: 0 };

  it('is all charges of one that failed, and the rest of the hold of another', () => {
    assert.deepEqual(costOfSettled({ status: 'failed', ...cents }), { chargedCents: 0, refundedCents: 500 });
    const stopped = { status: 'stopped', chargedCents: 40, refundedCents: 0, releasedCents: 460 } as const;
    assert.deepEqual(costOfSettled(stopped), { chargedCents: 40, refundedCents: 460 });
  });
});
