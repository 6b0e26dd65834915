import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { Refusal } from '../../../domain/refusal.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { limitOfMachine, refuseOpening, type Renter } from '../../../domain/rentals/open.js';
import { refusalOfExpired } from '../../../domain/rentals/quotes.js';
import type { AnyPot } from '../../../domain/spending/pots.js';

/** The code of a refusal, with its reason; undefined when nothing is refused. */
function refused(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { reason } = (error.details ?? {}) as { readonly reason?: string };
    return reason === undefined ? error.code : `${error.code} ${reason}`;
  }
}

const at = new Date('2026-11-01T00:00:00Z');
const limits = rentalLimits.freeMachines;

/** One that is coming up for 1,000 dollars, which is too much for whoever has paid nothing. */
const dear = {
  ...{ pricePerHourCents: 10_000_000, boughtAt: at, runningAt: null, endedAt: null, goneAt: null },
  ...{ settledAt: null, netCents: 0 },
};

describe('who may rent', () => {
  const anybody: Renter = {
    isPaused: false,
    blockedReason: null,
    isClosing: false,
    overdueInvoiceId: null,
    liveRentals: 19,
  };
  const open = (renter: Partial<Renter>, machines: readonly (typeof dear)[] = []) =>
    refused(() => {
      refuseOpening({ ...anybody, ...renter }, { at, machines, paidCents: 0 }, limits);
    });

  it('is whoever nothing keeps from it', () => {
    assert.equal(open({}), undefined);
  });

  it('is told the first of what is in the way: closing, brake, block, debt, live rentals, free machines', () => {
    const all = { isPaused: true, blockedReason: 'fraud', overdueInvoiceId: 'inv_1', liveRentals: 20 };
    assert.equal(open({ ...all, isClosing: true }, [dear]), 'account_closing');
    assert.equal(open(all, [dear]), 'temporarily_unavailable');
    assert.equal(open({ ...all, isPaused: false }, [dear]), 'blocked fraud');
    assert.equal(open({ overdueInvoiceId: 'inv_1', liveRentals: 20 }, [dear]), 'blocked unpaid_invoice');
    assert.equal(open({ liveRentals: 20 }, [dear]), 'blocked too_many_rentals');
    assert.equal(open({}, [dear]), 'rate_limited too_many_free_machines');
  });
});

describe('a machine', () => {
  const asked = { maxSpendCents: 500, autoStopAfterMs: null };
  const full: AnyPot = {
    ...{ kind: 'budget', month: '2026-11', limitCents: 600, spentCents: 101, reservedCents: 0, holders: [] },
  };

  it('must be paid for an hour, and then fit', () => {
    const limit = (availableCents: number, pots: AnyPot[] = []) =>
      refused(() => limitOfMachine(asked, 100, { availableCents, pots }));
    assert.equal(limit(100), undefined);
    assert.equal(limit(99, [full]), 'insufficient_balance');
    assert.equal(limit(100, [full]), 'budget_reserved');
    assert.equal(limitOfMachine(asked, 100, { availableCents: 100, pots: [] }), 500);
  });
});

describe('a quote', () => {
  it('holds up to its last millisecond', () => {
    const quote = { id: newId('quo'), expiresAt: at };
    assert.equal(refusalOfExpired(quote, at), undefined);
    const refusal = refusalOfExpired(quote, new Date(at.getTime() + 1));
    assert.deepEqual(refusal?.details, { quoteId: quote.id, expiresAt: at.toISOString() });
  });
});
