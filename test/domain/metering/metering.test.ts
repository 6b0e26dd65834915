import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  accruedCents,
  elapsedMsAtCents,
  finalCents,
  pendingMillicents,
} from '../../../domain/metering/metering.js';

const rate = fc.integer({ min: 1, max: 10_000_000 });
const elapsed = fc.integer({ min: 0, max: 10 * 365 * 24 * 3_600_000 });
const cents = fc.integer({ min: 0, max: 1_000_000_000 });

describe('what a machine costs', () => {
  it('accrues the rate in an hour, and half of it in half an hour', () => {
    assert.equal(accruedCents(299, 3_600_000), 299);
    assert.equal(accruedCents(299, 1_800_000), 149);
    assert.equal(accruedCents(3_600, 999), 0);
    assert.equal(accruedCents(3_600, 1_000), 1);
  });

  it('accrues nothing before it begins', () => {
    assert.equal(accruedCents(100, 0), 0);
    assert.equal(accruedCents(100, -3_600_000), 0);
    assert.equal(finalCents(100, -3_600_000, null), 0);
    assert.equal(pendingMillicents(100, -3_600_000, 0), 0);
    assert.equal(pendingMillicents(100, 0, 0), 0);
  });

  it('never accrues less as time passes, and never more than the rate', () => {
    fc.assert(
      fc.property(rate, elapsed, elapsed, (perHour, a, b) => {
        const [early, late] = a < b ? [a, b] : [b, a];
        assert.ok(accruedCents(perHour, early) <= accruedCents(perHour, late));
        assert.ok(BigInt(accruedCents(perHour, late)) * 3_600_000n <= BigInt(perHour) * BigInt(late));
      }),
    );
  });

  it('rounds the final price half up, by at most half a cent', () => {
    assert.equal(finalCents(1, 1_799_999, null), 0);
    assert.equal(finalCents(1, 1_800_000, null), 1);
    fc.assert(
      fc.property(rate, elapsed, (perHour, ms) => {
        const price = finalCents(perHour, ms, null);
        const difference = 2n * (BigInt(price) * 3_600_000n - BigInt(perHour) * BigInt(ms));
        assert.ok(difference <= 3_600_000n && difference > -3_600_000n);
      }),
    );
  });

  it('never charges more than the spend limit', () => {
    assert.equal(finalCents(100, 36_000_000, 250), 250);
    assert.equal(finalCents(100, 3_600_000, 250), 100);
  });

  it('finds the first millisecond at which an amount has accrued', () => {
    assert.equal(elapsedMsAtCents(3_600, 1), 1_000);
    assert.equal(elapsedMsAtCents(7, 0), 0);
    fc.assert(
      fc.property(rate, cents, (perHour, amount) => {
        const ms = elapsedMsAtCents(perHour, amount);
        assert.ok(accruedCents(perHour, ms) >= amount);
        if (ms > 0) assert.ok(accruedCents(perHour, ms - 1) < amount);
      }),
    );
  });

  it('shows what has accrued beyond the charged cents, in thousandths', () => {
    assert.equal(pendingMillicents(3_600, 1_500, 1), 500);
    assert.equal(pendingMillicents(3_600, 1_500, 2), 0);
  });
});
