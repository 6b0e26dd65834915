import assert from 'node:assert/strict';
import { worstCaseCents } from '@gpu-rental/client';
import fc from 'fast-check';
import { worstCaseOf } from '../../../domain/rentals/quote.js';

const DAY_MS = 86_400_000;

describe('the worst case that clients compute while limits are typed', () => {
  it('is the one that the service tells once they are set', () => {
    let byTime = 0;
    let bySpend = 0;
    const limits = fc.record({
      pricePerHourCents: fc.integer({ min: 1, max: 100_000 }),
      ranMs: fc.option(fc.integer({ min: 0, max: 40 * DAY_MS })),
      maxSpendCents: fc.option(fc.integer({ min: 1, max: 5_000_000 })),
    });
    fc.assert(
      fc.property(limits, ({ pricePerHourCents, ranMs, maxSpendCents }) => {
        const runningAt = new Date('2026-11-28T12:00:00.001Z');
        const autoStopAt = ranMs === null ? null : new Date(runningAt.getTime() + ranMs);
        const found = worstCaseCents({
          ...{ pricePerHourCents, maxSpendCents },
          runningAt: runningAt.toISOString(),
          autoStopAt: autoStopAt?.toISOString() ?? null,
        });
        const told = worstCaseOf(pricePerHourCents, {
          ...{ runningAt, autoStopAt, maxSpendCents, autoStopAfterMs: ranMs },
        });
        assert.equal(found, told);
        if (found !== null && found === maxSpendCents) bySpend += 1;
        else if (found !== null) byTime += 1;
      }),
      { numRuns: 1_000 },
    );
    assert.ok(byTime > 50 && bySpend > 50, `${byTime} by time, ${bySpend} by spend`);
  });

  it('waits for the beginning of the billing where time alone is limited', () => {
    const rental = { pricePerHourCents: 200, runningAt: null, autoStopAt: '2026-11-28T12:00:00Z' };
    assert.equal(worstCaseCents({ ...rental, maxSpendCents: null }), null);
    assert.equal(worstCaseCents({ ...rental, maxSpendCents: 700 }), 700);
  });
});
