import assert from 'node:assert/strict';
import fc from 'fast-check';
import { accruedCents, finalCents } from '../../../domain/metering/metering.js';
import {
  chargedWithin,
  firmWithin,
  refundableWithin,
  type ChargedRental,
  type EarlierRefund,
  type TimeWindow,
} from '../../../domain/metering/window-charge.js';
import { centsBetween } from '../../support/money/window-oracle.js';

const START = Date.UTC(2026, 10, 21);
const HOUR = 3_600_000;
const at = (ms: number): Date => new Date(START + ms);
const windowOf = ([a, b]: readonly [number, number]): TimeWindow => ({
  from: at(Math.min(a, b)),
  to: at(Math.max(a, b)),
});

/** Rentals of some duration, each charged its price, or less because the money ended. */
const rentals = fc
  .record({
    pricePerHourCents: fc.integer({ min: 1, max: 5_000 }),
    ranMs: fc.integer({ min: 1, max: 3 * HOUR }),
    missingCents: fc.constantFrom(0, 0, 1, 50),
    ended: fc.boolean(),
  })
  .map(({ pricePerHourCents, ranMs, missingCents, ended }): ChargedRental => {
    const price = ended ? finalCents(pricePerHourCents, ranMs, null) : accruedCents(pricePerHourCents, ranMs);
    return {
      pricePerHourCents,
      runningAt: at(0),
      endedAt: ended ? at(ranMs) : null,
      isSettled: ended,
      netCents: Math.max(0, price - missingCents),
      aliveAt: at(ranMs),
    };
  });
const instant = fc.integer({ min: -HOUR, max: 4 * HOUR });
const windows = fc.tuple(instant, instant).map(windowOf);

describe('what a rental was charged for a window (decision 94)', () => {
  it('is its cents, each at the instant at which it was earned', () => {
    fc.assert(
      fc.property(rentals, windows, (rental, window) => {
        const { pricePerHourCents: priceCents, netCents: cents, endedAt } = rental;
        const endedMs = endedAt?.getTime() ?? Infinity;
        const earned = { priceCents, cents, runningMs: START, endedMs };
        assert.equal(
          chargedWithin(rental, window),
          centsBetween(earned, window.from.getTime(), window.to.getTime()),
        );
      }),
    );
  });

  it('adds up over windows that meet, to all that was charged', () => {
    fc.assert(
      fc.property(rentals, fc.array(instant, { minLength: 1, maxLength: 6 }), (rental, cuts) => {
        const edges = [-2 * HOUR, ...cuts.sort((a, b) => a - b), 5 * HOUR];
        const parts = edges.slice(1).map((edge, i) => ({ from: at(edges[i]!), to: at(edge) }));
        const sum = parts.reduce((cents, part) => cents + chargedWithin(rental, part), 0);
        assert.equal(sum, rental.netCents);
      }),
    );
  });

  it('is never given back twice, whatever windows are asked for and whatever was given for no window', () => {
    fc.assert(
      fc.property(
        rentals,
        fc.array(windows, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 0, max: 20 }),
        (rental, asked, single) => {
          const given: EarlierRefund[] = single === 0 ? [] : [{ amountCents: single, window: null }];
          for (const window of asked) {
            const amountCents = refundableWithin(rental, window, given);
            const total = (): number => given.reduce((cents, refund) => cents + refund.amountCents, 0);
            assert.ok(amountCents <= chargedWithin(rental, window));
            assert.ok(amountCents === 0 || total() + amountCents <= rental.netCents);
            given.push({ amountCents, window });
            assert.equal(refundableWithin(rental, window, given), 0, 'the same window again');
          }
        },
      ),
    );
  });

  it('is given back in full for windows that do not meet, each by itself', () => {
    const rental: ChargedRental = {
      ...{ pricePerHourCents: 3_600, runningAt: at(0), endedAt: at(100_000), isSettled: true },
      ...{ netCents: 100, aliveAt: null },
    };
    const [first, second] = [windowOf([10_000, 30_000]), windowOf([50_000, 90_000])];
    assert.equal(refundableWithin(rental, first, []), 20);
    assert.equal(refundableWithin(rental, second, [{ amountCents: 20, window: first }]), 40);
    assert.equal(
      refundableWithin(rental, windowOf([0, 60_000]), [{ amountCents: 20, window: first }]),
      40,
      'what both windows have is left out',
    );
  });

  it('has the cent of the final rounding at the end of the billing, and nothing after it', () => {
    const rental: ChargedRental = {
      ...{ pricePerHourCents: 3_600, runningAt: at(0), endedAt: at(10_600), isSettled: true },
      ...{ netCents: 11, aliveAt: null },
    };
    assert.equal(chargedWithin(rental, windowOf([0, 10_599])), 10);
    assert.equal(chargedWithin(rental, windowOf([0, 10_600])), 11);
    assert.equal(chargedWithin(rental, windowOf([10_599, 10_600])), 1);
    assert.equal(chargedWithin(rental, windowOf([10_600, 20_000])), 0);
  });

  it('is firm until the machine was last seen alive, and not within the first minute', () => {
    const running = (aliveMs: number | null): ChargedRental => ({
      ...{ pricePerHourCents: 3_600, runningAt: at(0), endedAt: null, isSettled: false },
      ...{ netCents: 500, aliveAt: aliveMs === null ? null : at(aliveMs) },
    });
    const window = windowOf([100_000, 300_000]);
    assert.equal(firmWithin(running(400_000), window), 200);
    assert.equal(firmWithin(running(150_000), window), 50);
    assert.equal(firmWithin(running(90_000), window), 0);
    assert.equal(firmWithin(running(null), window), 0);
    assert.equal(firmWithin(running(60_000), windowOf([0, 50_000])), 0);
    assert.equal(firmWithin(running(60_001), windowOf([0, 50_000])), 50);
    assert.equal(firmWithin({ ...running(90_000), isSettled: true }, window), 200);
  });
});
