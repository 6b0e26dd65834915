import assert from 'node:assert/strict';
import fc from 'fast-check';
import { centsOfUsd } from '../../../../adapters/providers/offers/prices.js';

describe('cents of a price in US dollars', () => {
  const prices: [number, number | null][] = [
    [1.1, 110],
    [0.69, 69],
    [0.29 * 3, 87],
    [0.44 * 8, 352],
    [1.89 * 8, 1512],
    [0.1 + 0.2, 30],
    [1.101, 111],
    [1.5484, 155],
    [0.001, 1],
    [0.000_000_1, 1],
    [0, null],
    [-1, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
  ];
  for (const [usd, cents] of prices) {
    it(`are ${String(cents)} for ${usd}`, () => assert.equal(centsOfUsd(usd), cents));
  }

  it('are the same whether the price was a 64-bit or a 32-bit float, for any count', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.constantFrom(1, 2, 4, 8), (cents, count) => {
        assert.equal(centsOfUsd((cents / 100) * count), cents * count);
        assert.equal(centsOfUsd(Math.fround(cents / 100) * count), cents * count);
      }),
    );
  });

  it('are never below the price', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000 }), (hundredths) => {
        assert.equal(centsOfUsd(hundredths / 10_000), Math.ceil(hundredths / 100));
      }),
    );
  });
});
