import assert from 'node:assert/strict';
import { presentStatement } from '../../api/wallet/statement.js';
import { groupedBy } from '../../domain/grouped.js';
import type { RentalId } from '../../domain/ids.js';

/** How many items are taken from lists while something is done: copies of lists are counted, time is not. */
function countWork(act: () => unknown): number {
  const prototype = Array.prototype as { [Symbol.iterator]: () => IterableIterator<unknown> };
  const original = prototype[Symbol.iterator];
  let taken = 0;
  prototype[Symbol.iterator] = function* counted(this: unknown[]) {
    for (let at = 0; at < this.length; at += 1) {
      taken += 1;
      yield this[at];
    }
  };
  try {
    act();
  } finally {
    prototype[Symbol.iterator] = original;
  }
  return taken;
}

/** A statement of as many rentals, each with charges and a refund. */
const statementOf = (rentals: number) => ({
  openingBalanceCents: 0,
  closingBalanceCents: 0,
  sums: (['rental_charge', 'refund'] as const).flatMap((type) =>
    Array.from({ length: rentals }, (_, at) => ({
      type,
      rentalId: `rent_${at}` as RentalId,
      label: at % 3 === 0 ? null : `team ${at % 7}`,
      entries: 2,
      amountCents: type === 'refund' ? 1 : -5,
    })),
  ),
});

describe('groups', () => {
  it('keep the order of what came, in one pass', () => {
    const groups = groupedBy([3, 1, 4, 1, 5, 9, 2, 6], (each) => each % 2);
    assert.deepEqual(
      [...groups],
      [
        [1, [3, 1, 1, 5, 9]],
        [0, [4, 2, 6]],
      ],
    );
  });

  it('cost a statement as much again for as many rentals again', () => {
    const query = { from: new Date(0), to: new Date(1), groupBy: 'team' };
    const work = (rentals: number) => {
      const statement = statementOf(rentals);
      return countWork(() => presentStatement(query, statement));
    };
    const [few, many] = [work(500), work(5_000)];
    assert.ok(few >= 500, 'the work was seen');
    assert.ok(many < 12 * few, `${few} for 500 rentals, ${many} for 5,000`);
  });
});
