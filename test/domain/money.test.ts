import assert from 'node:assert/strict';
import fc from 'fast-check';
import { firstBrokenLink } from '../../domain/ledger/ledger.js';
import { assertCents, formatUsd } from '../../domain/money.js';

describe('money', () => {
  it('is shown in dollars with separators', () => {
    assert.equal(formatUsd(0), '$0.00');
    assert.equal(formatUsd(5), '$0.05');
    assert.equal(formatUsd(-5), '-$0.05');
    assert.equal(formatUsd(123_456), '$1,234.56');
    assert.equal(formatUsd(100_000_000), '$1,000,000.00');
    assert.equal(formatUsd(99_900), '$999.00');
  });

  it('is whole cents', () => {
    assert.doesNotThrow(() => assertCents(-3, 'x'));
    for (const wrong of [0.5, Number.NaN, Infinity, 2 ** 53]) {
      assert.throws(() => assertCents(wrong, 'price'), /price must be whole cents/);
      assert.throws(() => formatUsd(wrong), /cents must be whole cents/);
    }
  });
});

describe('the reconciliation rule', () => {
  const chained = fc
    .array(fc.integer({ min: -500, max: 500 }), { minLength: 1, maxLength: 30 })
    .map((amounts) => {
      let balance = 0;
      return amounts
        .map((amountCents) => ({ amountCents, balanceAfterCents: (balance += amountCents) }))
        .reverse();
    });

  it('holds on a chain that starts from 0', () => {
    fc.assert(fc.property(chained, (entries) => assert.equal(firstBrokenLink(entries, true), undefined)));
    assert.equal(firstBrokenLink([], true), undefined);
  });

  it('names the first entry that breaks it', () => {
    fc.assert(
      fc.property(chained, fc.nat(), (entries, at) => {
        const index = at % entries.length;
        const broken = entries.map((entry, i) =>
          i === index ? { ...entry, amountCents: entry.amountCents + 1 } : entry,
        );
        assert.equal(firstBrokenLink(broken, true), index);
      }),
    );
  });

  it('does not ask where a page that is not the last one began', () => {
    const page = [{ amountCents: -1, balanceAfterCents: 9 }];
    assert.equal(firstBrokenLink(page, false), undefined);
    assert.equal(firstBrokenLink(page, true), 0);
  });
});
