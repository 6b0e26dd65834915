import assert from 'node:assert/strict';
import fc from 'fast-check';
import { accruedCents, elapsedMsAtCents, finalCents } from '../../../domain/metering/metering.js';
import { afterwards, worstCaseCents } from '../../../domain/rentals/quote.js';

const price = fc.integer({ min: 1, max: 3_600_000 });
const limits = fc.record({
  autoStopAfterMs: fc.option(fc.integer({ min: 1, max: 720 * 3_600_000 })),
  maxSpendCents: fc.option(fc.integer({ min: 1, max: 1_000_000_000 })),
});

describe('what a rental costs at most', () => {
  it('is unknown without a limit, and the nearer one of two', () => {
    assert.equal(worstCaseCents(100, { autoStopAfterMs: null, maxSpendCents: null }), null);
    assert.equal(worstCaseCents(100, { autoStopAfterMs: null, maxSpendCents: 700 }), 700);
    assert.equal(worstCaseCents(100, { autoStopAfterMs: 7_200_000, maxSpendCents: null }), 200);
    assert.equal(worstCaseCents(100, { autoStopAfterMs: 7_200_000, maxSpendCents: 150 }), 150);
    assert.equal(worstCaseCents(100, { autoStopAfterMs: 7_200_000, maxSpendCents: 201 }), 200);
  });

  it('rounds half up, as the last bill does', () => {
    assert.equal(worstCaseCents(1, { autoStopAfterMs: 1_799_999, maxSpendCents: null }), 0);
    assert.equal(worstCaseCents(1, { autoStopAfterMs: 1_800_000, maxSpendCents: null }), 1);
  });

  it('is never exceeded by a tick or a bill, whenever it ends and however little it costs an hour, and is reached', () => {
    fc.assert(
      fc.property(
        price,
        price,
        limits,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (quoted, other, given, at) => {
          const worst = worstCaseCents(quoted, given);
          if (worst === null) return;
          const paid = Math.min(quoted, other);
          const endsMs = (perHour: number) =>
            Math.min(
              given.autoStopAfterMs ?? Infinity,
              given.maxSpendCents === null ? Infinity : elapsedMsAtCents(perHour, given.maxSpendCents),
            );
          const elapsedMs = Math.floor(endsMs(paid) * at);
          assert.ok(accruedCents(paid, elapsedMs) <= worst);
          assert.ok(finalCents(paid, elapsedMs, given.maxSpendCents) <= worst);
          assert.equal(finalCents(quoted, endsMs(quoted), given.maxSpendCents), worst);
        },
      ),
    );
  });
});

describe('what a rental leaves of a wallet', () => {
  it('is the rest of the money once an hour is held, and how long all that runs goes on', () => {
    const funds = { availableCents: 1_000, holdsCents: 100, burnPerHourCents: 150 };
    assert.deepEqual(afterwards(50, funds), {
      walletAfterCents: 950,
      missingCents: 0,
      runwaySecondsAfter: 19_800,
    });
  });

  it('is too little by what is missing', () => {
    const funds = { availableCents: 30, holdsCents: 0, burnPerHourCents: 0 };
    assert.deepEqual(afterwards(50, funds), {
      walletAfterCents: -20,
      missingCents: 20,
      runwaySecondsAfter: 2_160,
    });
  });
});
