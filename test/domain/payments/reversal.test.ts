import assert from 'node:assert/strict';
import fc from 'fast-check';
import { shareOfReversal } from '../../../domain/payments/reversal.js';

const cents = fc.integer({ min: 0, max: 10_000_000 });
const input = fc.record({
  amountCents: cents,
  leftOfPaymentCents: fc.integer({ min: -1000, max: 10_000_000 }),
  availableCents: cents,
  minInvoiceCents: fc.integer({ min: 1, max: 1000 }),
});

describe('shareOfReversal', () => {
  it('takes exactly what is due: the amount, but no more than is left of its payment', () => {
    fc.assert(
      fc.property(input, (asked) => {
        const { debitedCents, invoicedCents, writtenOffCents } = shareOfReversal(asked);
        const due = Math.max(0, Math.min(asked.amountCents, asked.leftOfPaymentCents));
        assert.equal(debitedCents + invoicedCents + writtenOffCents, due);
        for (const part of [debitedCents, invoicedCents, writtenOffCents]) {
          assert.ok(Number.isSafeInteger(part) && part >= 0);
        }
      }),
    );
  });

  it('takes from the balance first and never below zero', () => {
    fc.assert(
      fc.property(input, (asked) => {
        const { debitedCents, invoicedCents, writtenOffCents } = shareOfReversal(asked);
        assert.ok(debitedCents <= asked.availableCents);
        if (invoicedCents + writtenOffCents > 0) assert.equal(debitedCents, asked.availableCents);
      }),
    );
  });

  it('invoices the rest from the smallest invoice on, and writes off only less than that', () => {
    fc.assert(
      fc.property(input, (asked) => {
        const { invoicedCents, writtenOffCents } = shareOfReversal(asked);
        assert.ok(invoicedCents === 0 || invoicedCents >= asked.minInvoiceCents);
        assert.ok(writtenOffCents < asked.minInvoiceCents);
        assert.ok(invoicedCents === 0 || writtenOffCents === 0);
      }),
    );
  });

  it('never takes more for several reversals of one payment than the payment was', () => {
    const story = fc.record({
      paidCents: cents,
      reversals: fc.array(cents, { maxLength: 8 }),
      availableCents: cents,
    });
    fc.assert(
      fc.property(story, ({ paidCents, reversals, availableCents }) => {
        let left = paidCents;
        let available = availableCents;
        for (const amountCents of reversals) {
          const share = shareOfReversal({
            amountCents,
            leftOfPaymentCents: left,
            availableCents: available,
            minInvoiceCents: 50,
          });
          left -= share.debitedCents + share.invoicedCents + share.writtenOffCents;
          available -= share.debitedCents;
        }
        const asked = reversals.reduce((sum, amount) => sum + amount, 0);
        assert.equal(paidCents - left, Math.min(paidCents, asked));
        assert.ok(available >= 0);
      }),
    );
  });

  const examples: [what: string, asked: Parameters<typeof shareOfReversal>[0], share: number[]][] = [
    [
      'all from the balance',
      { amountCents: 500, leftOfPaymentCents: 500, availableCents: 500, minInvoiceCents: 50 },
      [500, 0, 0],
    ],
    [
      'the rest by invoice',
      { amountCents: 500, leftOfPaymentCents: 500, availableCents: 450, minInvoiceCents: 50 },
      [450, 50, 0],
    ],
    [
      'a small rest written off',
      { amountCents: 500, leftOfPaymentCents: 500, availableCents: 451, minInvoiceCents: 50 },
      [451, 0, 49],
    ],
    [
      'only what is left',
      { amountCents: 500, leftOfPaymentCents: 200, availableCents: 900, minInvoiceCents: 50 },
      [200, 0, 0],
    ],
    [
      'nothing when nothing is left',
      { amountCents: 500, leftOfPaymentCents: -5, availableCents: 900, minInvoiceCents: 50 },
      [0, 0, 0],
    ],
  ];
  for (const [what, asked, share] of examples) {
    it(`takes ${what}`, () => {
      const { debitedCents, invoicedCents, writtenOffCents } = shareOfReversal(asked);
      assert.deepEqual([debitedCents, invoicedCents, writtenOffCents], share);
    });
  }
});
