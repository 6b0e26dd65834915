import assert from 'node:assert/strict';
import type { Database } from '../../../adapters/postgres/database.js';
import type { ProcessorInvoice } from '../../../adapters/processor/processor.js';
import type { RefundOrDisputeRow } from '../../../adapters/postgres/rows/tables.js';
import type { InvoiceId, UserId } from '../../../domain/ids.js';
import { becomeOpen, becomeUncollectible, becomeVoid } from '../../../money/invoices/invoice-states.js';
import { requestVoid } from '../../../money/invoices/invoice-voids.js';
import { settleInvoice } from '../../../money/payments/settle-invoice.js';
import { applyReversal, type Reversal } from '../../../money/reversals/reversals.js';
import { getWallet, insertWallet, onVerifiedDatabase } from '../../support/money/money.js';
import { assertToldOnce } from '../../support/money/told-once.js';
import { toldEvents } from '../../support/story/told-events.js';

const PAID = 1_000;
/** What is left in the wallet of the payment; the rest becomes an invoice. */
const LEFT = 300;

const mirror: ProcessorInvoice = {
  ...{ processorInvoiceId: 'in_1', hostedInvoiceUrl: 'http://127.0.0.1/in_1', invoicePdfUrl: null },
  ...{ status: 'open', totalCents: 700, amountPaidCents: 0, currency: 'usd' },
  ...{ paymentId: null, paidAt: null, customerId: null, invoiceId: null },
};

/** How a reversal ends, in the processor's words. */
const kinds = {
  'a refund that failed': { kind: 'refund', status: 'failed' },
  'a dispute that was won': { kind: 'dispute', status: 'won' },
} as const;

describe('what comes back of a reversal', () => {
  let db: Database;
  let count = 0;
  onVerifiedDatabase((opened) => {
    db = opened.db;
  });

  /** The state of its invoice when it comes back, what comes back by that, and the state of the invoice then. */
  const states: Record<string, { to: (id: InvoiceId) => Promise<unknown>; back: number; then: string }> = {
    draft: { to: () => Promise.resolve(), back: LEFT, then: 'void' },
    open: { to: open, back: LEFT, then: 'open, to be void' },
    paid: { to: async (id) => (await open(id), await pay(id)), back: PAID, then: 'paid' },
    'to be void': {
      to: async (id) => (await open(id), await askVoid(id)),
      back: LEFT,
      then: 'open, to be void',
    },
    void: {
      to: async (id) => {
        await open(id);
        await askVoid(id);
        await becomeVoid(db, id);
      },
      back: LEFT,
      then: 'void, to be void',
    },
    'written off': {
      to: async (id) => {
        await open(id);
        await becomeUncollectible(db, id);
      },
      back: LEFT,
      then: 'uncollectible, to be void',
    },
    'paid although it was to be void': {
      to: async (id) => (await open(id), await askVoid(id), await pay(id)),
      back: PAID,
      then: 'paid, to be void',
    },
  };

  for (const [what, { kind, status }] of Object.entries(kinds)) {
    for (const [state, { to, back, then }] of Object.entries(states)) {
      it(`${what} is to the cent what it took, with an invoice that is ${state}`, async () => {
        const { userId, reversal } = await one(kind);
        const taken = await applyReversal(db, reversal);
        assert.deepEqual(sums(taken), [LEFT, PAID - LEFT, 0]);
        await to(taken.invoice_id!);
        const returned = { ...reversal, status, returned: true, closed: true };
        for (let times = 0; times < 2; times += 1) await applyReversal(db, returned);
        assert.equal(await available(userId), back);
        assert.match(await stateOf(taken.invoice_id!), new RegExp(`^${then}`));
        // Whoever pays an invoice that is no longer owed has the money in the wallet, once.
        for (let times = 0; times < 2; times += 1) await pay(taken.invoice_id!);
        assert.equal(await available(userId), PAID);
      });
    }
  }

  it('is told as what it is, as is what was taken: once each, by one event in its transaction', async () => {
    const { userId, reversal } = await one('dispute');
    const { paymentId } = reversal;
    const about = { kind: 'dispute', paymentId };
    await assertToldOnce(db, {
      userId,
      act: () => applyReversal(db, reversal),
      tells: [
        ['topup.reversed', { ...about, amountCents: PAID, debitedCents: LEFT, invoicedCents: PAID - LEFT }],
      ],
    });
    const { rows } = await db.raw<{ rows: { description: string }[] }>(
      `select l.description from invoice_line_items l join invoices i on i.id = l.invoice_id where i.user_id = ?`,
      [userId],
    );
    assert.deepEqual(rows, [
      { description: `Your bank took back $10.00 of your payment ${paymentId}; this part was spent already` },
    ]);
    await applyReversal(db, { ...reversal, status: 'won', returned: true, closed: true });
    const told = (await toldEvents(db, userId)).map(({ type, data }) => [type, data]);
    assert.deepEqual(told.at(-1), ['topup.reinstated', { ...about, returnedCents: LEFT }]);
  });

  describe('when there are several', () => {
    it('of one payment: each has an invoice of its own, and only that one is taken back', async () => {
      const { userId, reversal } = await one('dispute', 0);
      const [first, second] = [part(reversal, 'a', 400), part(reversal, 'b', 600)];
      const [one400, one600] = [await applyReversal(db, first), await applyReversal(db, second)];
      assert.deepEqual(
        [sums(one400), sums(one600)],
        [
          [0, 400, 0],
          [0, 600, 0],
        ],
      );
      await open(one400.invoice_id!);
      await open(one600.invoice_id!);
      await applyReversal(db, { ...first, returned: true, closed: true });
      assert.match(await stateOf(one400.invoice_id!), /to be void/);
      assert.equal(await stateOf(one600.invoice_id!), 'open');
      assert.equal(await available(userId), 0);
    });

    it('of one payment: what one gives back another takes, and keeps the invoice that it has', async () => {
      const { userId, reversal } = await one('dispute', 0);
      const [small, whole] = [part(reversal, 'a', 400), part(reversal, 'b', PAID)];
      await applyReversal(db, small);
      const before = await applyReversal(db, whole);
      assert.deepEqual(sums(before), [0, 600, 0]);
      await applyReversal(db, { ...small, returned: true, closed: true });
      const after = (await db('refunds_and_disputes').where({ id: whole.id }).first())!;
      assert.deepEqual([sums(after), after.invoice_id], [[0, 600, 400], before.invoice_id]);
      const invoices = await db('invoices').where({ user_id: userId }).orderBy('id').select('amount_cents');
      assert.deepEqual(
        invoices.map(({ amount_cents: cents }) => cents),
        [400, 600],
      );
    });

    it('of one payment: what was debited in two rounds comes back whole', async () => {
      const { userId, reversal } = await one('dispute', PAID);
      const [small, whole] = [part(reversal, 'a', 400), part(reversal, 'b', PAID)];
      await applyReversal(db, small);
      assert.deepEqual(sums(await applyReversal(db, whole)), [600, 0, 0]);
      await applyReversal(db, { ...small, returned: true, closed: true });
      assert.equal(await available(userId), 0);
      await applyReversal(db, { ...whole, returned: true, closed: true });
      assert.equal(await available(userId), PAID);
    });

    it('of several payments: each takes its own, and what comes back is that one’s alone', async () => {
      const { userId, reversal } = await one('refund');
      const other: Reversal = {
        ...reversal,
        id: `${reversal.id}-other`,
        paymentId: `${reversal.paymentId}-other`,
      };
      const [first, second] = [await applyReversal(db, reversal), await applyReversal(db, other)];
      assert.deepEqual(
        [sums(first), sums(second)],
        [
          [LEFT, 700, 0],
          [0, PAID, 0],
        ],
      );
      assert.notEqual(first.invoice_id, second.invoice_id);
      await applyReversal(db, { ...other, status: 'failed', returned: true, closed: true });
      assert.equal(await available(userId), 0);
      assert.deepEqual(
        [await stateOf(first.invoice_id!), await stateOf(second.invoice_id!)].map((text) => text.slice(0, 5)),
        ['draft', 'void,'],
      );
      await applyReversal(db, { ...reversal, status: 'failed', returned: true, closed: true });
      assert.equal(await available(userId), LEFT);
    });
  });

  /** A reversal of a payment, of which this much is left in the wallet. */
  async function one(kind: Reversal['kind'], left = LEFT): Promise<{ userId: UserId; reversal: Reversal }> {
    const { user_id: userId } = await insertWallet(db, left);
    count += 1;
    const about = { id: `rv_${count}`, kind, status: 'open', amountCents: PAID, paymentId: `pi_${count}` };
    const state = { credited: true, taken: true, returned: false, closed: false };
    return { userId, reversal: { ...about, userId, paymentCents: PAID, ...state } };
  }

  const part = (reversal: Reversal, suffix: string, amountCents: number): Reversal => ({
    ...reversal,
    id: `${reversal.id}${suffix}`,
    amountCents,
  });

  async function open(id: InvoiceId): Promise<void> {
    await db('invoices')
      .where({ id })
      .update({ processor_invoice_id: `in_${id}` });
    await becomeOpen(db, id, mirror, 1_000);
  }

  const pay = (id: InvoiceId) => settleInvoice(db, id, { payment: null, paidAt: null });
  const askVoid = (id: InvoiceId) => db.transaction((trx) => requestVoid(trx, id, 'a slip'));
  const available = async (userId: UserId) => (await getWallet(db, userId)).available_cents;
  const sums = (row: RefundOrDisputeRow) => [row.debited_cents, row.invoiced_cents, row.written_off_cents];

  async function stateOf(id: InvoiceId): Promise<string> {
    const { status, void_requested_at: asked } = (await db('invoices').where({ id }).first())!;
    return asked === null ? status : `${status}, to be void`;
  }
});
