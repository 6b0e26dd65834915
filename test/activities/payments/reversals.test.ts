import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { actDirectly } from '../../../adapters/postgres/operators/direct-actions.js';
import { recordAction } from '../../../adapters/postgres/operators/operator-actions.js';
import type { InvoiceRow, RefundOrDisputeRow } from '../../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import {
  ProcessorError,
  type Dispute,
  type Payment,
  type Refund,
} from '../../../adapters/processor/processor.js';
import type { InvoiceId, UserId } from '../../../domain/ids.js';
import { post } from '../../../money/ledger/post.js';
import { lockWalletOfUser } from '../../../money/ledger/wallets.js';
import { creditUser } from '../../../money/payments/credit.js';
import { parkPayment } from '../../../money/payments/parked-payments.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { paymentOf } from '../../support/activities/scripted-processor.js';
import { insertTopup, insertUser } from '../../support/money/factories.js';
import { getWallet } from '../../support/money/money.js';
import { sums } from '../../support/story/reversing.js';

const PAID = 1_000;

describe('the activities of refunds and disputes', () => {
  let lone: LoneActivities;
  let userId: UserId;
  let payment: Payment;
  before(async () => {
    lone = await startActivities();
  });
  beforeEach(async () => {
    lone.processor.reset();
    lone.alarms.length = 0;
    userId = (await insertUser(lone.db, { processor_customer_id: `cus_${newId('top')}` })).id;
    payment = paymentOf({ topupId: newId('top'), userId, amountCents: PAID }, { topupId: null });
  });
  after(() => lone.close());
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(lone.db), [], 'every wallet adds up');
  });

  const available = async () => (await getWallet(lone.db, userId)).available_cents;
  const invoices = (): Promise<InvoiceRow[]> => lone.db('invoices').where({ user_id: userId }).orderBy('id');

  /** The user's payment is in their wallet, of which they have spent this much. */
  async function credited(spentCents = 0): Promise<void> {
    await creditUser(lone.db, userId, payment);
    if (spentCents > 0) await add(-spentCents);
  }

  async function add(cents: number): Promise<void> {
    await lone.db.transaction(async (trx) => {
      const cause = { kind: 'operation', operationId: newId('op') } as const;
      await post(trx, await lockWalletOfUser(trx, userId), {
        type: 'adjustment',
        availableCents: cents,
        cause,
      });
    });
  }

  let events = 0;
  /** An event that waits for the workflow of this id. */
  async function tell(workflow: 'refund' | 'dispute', id: string, kind: string): Promise<void> {
    events += 1;
    await lone.db('processor_events').insert({
      ...{ id: `evt_${events}_${id}`, kind, created_at: new Date(), livemode: false, object: {} },
      ...{ workflow_id: id, workflow_type: workflow },
    });
  }

  function refundOf(columns: Partial<Refund> = {}): Refund {
    const { paymentId, chargeId } = payment;
    return {
      ...{ refundId: `re_${newId('top')}`, paymentId, chargeId, amountCents: PAID, currency: 'usd' },
      ...{ status: 'succeeded', key: null, ...columns },
    };
  }

  /** Looks at a refund that the processor shows so. @returns its row */
  async function look(refund: Refund, kind = 'refund.updated'): Promise<RefundOrDisputeRow | undefined> {
    await tell('refund', refund.refundId, kind);
    lone.processor.answers = {
      getPayment: () => Promise.resolve(payment),
      ...lone.processor.answers,
      getRefund: () => Promise.resolve(refund),
    };
    await lone.run('lookAtRefund', refund.refundId);
    return lone.db('refunds_and_disputes').where({ id: refund.refundId }).first();
  }

  const looked = async (refund: Refund) => (await look(refund)) ?? assert.fail('it has a row');

  describe('a refund', () => {
    it('leaves the wallet once, and the user is mailed', async () => {
      await credited();
      const refund = refundOf();
      for (let times = 0; times < 2; times += 1) {
        const row = await looked(refund);
        assert.deepEqual([row.status, sums(row), row.closed_at === null], ['succeeded', [PAID, 0, 0], false]);
      }
      assert.equal(await available(), 0);
      const user = await lone.db('users').where({ id: userId }).first();
      const mails = await lone.db('mail_outbox').where({ recipient: user!.email }).select('subject');
      assert.equal(mails.filter(({ subject }) => subject === 'Your payment was refunded').length, 1);
    });

    it('takes parts as they come, each once', async () => {
      await credited();
      for (const amountCents of [300, 200]) {
        const row = await looked(refundOf({ amountCents }));
        assert.deepEqual(sums(row), [amountCents, 0, 0]);
      }
      assert.equal(await available(), 500);
    });

    it('invoices what is missing, and writes off what is below the smallest charge', async () => {
      await credited(900);
      assert.deepEqual(sums(await looked(refundOf({ amountCents: 600 }))), [100, 500, 0]);
      assert.deepEqual(sums(await looked(refundOf({ amountCents: 49 }))), [0, 0, 49]);
      const all = await invoices();
      assert.deepEqual(
        all.map(({ reason, amount_cents: cents, status }) => [reason, cents, status]),
        [['manual', 500, 'draft']],
      );
    });

    it('that waits for its bank is taken at once, and closed when its bank has it', async () => {
      await credited();
      const refund = refundOf({ status: 'pending' });
      assert.deepEqual([(await looked(refund)).closed_at, await available()], [null, 0]);
      const closed = await looked({ ...refund, status: 'succeeded' });
      assert.deepEqual([closed.closed_at === null, await available()], [false, 0]);
    });

    it('gives back what it took when it fails, and tells the user', async () => {
      await credited(800);
      const refund = refundOf({ status: 'pending' });
      assert.deepEqual(sums(await looked(refund)), [200, 800, 0]);
      await looked({ ...refund, status: 'failed' });
      assert.equal(await available(), 200);
      assert.deepEqual(
        (await invoices()).map(({ status }) => status),
        ['void'],
      );
      const user = await lone.db('users').where({ id: userId }).first();
      const mails = await lone.db('mail_outbox').where({ recipient: user!.email }).select('subject');
      assert.ok(mails.some(({ subject }) => subject === 'Your payment was not refunded'));
    });

    it('that fails before it was ever heard of moves nothing', async () => {
      await credited();
      assert.deepEqual(sums(await looked(refundOf({ status: 'failed' }))), [0, 0, 0]);
      assert.equal(await available(), PAID);
    });

    it('is found by its charge when its own events never come', async () => {
      await credited();
      const { chargeId } = payment;
      const refund = refundOf();
      await tell('refund', chargeId!, 'charge.refunded');
      lone.processor.answers = { listRefundsOfCharge: () => Promise.resolve([refund]) };
      await lone.run('lookAtRefund', chargeId!);
      assert.deepEqual(lone.processor.argsOf('listRefundsOfCharge'), [chargeId]);
      const row = await lone.db('refunds_and_disputes').where({ id: refund.refundId }).first();
      assert.deepEqual([row?.debited_cents, await available()], [PAID, 0]);
    });

    it('that comes before its payment was credited credits the payment first', async () => {
      const topup = await insertTopup(lone.db, userId, { amount_cents: PAID });
      payment = { ...payment, topupId: topup.id };
      assert.deepEqual(sums(await looked(refundOf({ amountCents: 400 }))), [400, 0, 0]);
      assert.equal(await available(), 600);
      assert.equal((await lone.db('topups').where({ id: topup.id }).first())?.status, 'succeeded');
    });

    /** A debt of the user that the payment has settled at the processor. */
    async function debt(columns: Partial<InvoiceRow> = {}): Promise<InvoiceId> {
      const id = newId('inv');
      const { id: walletId } = await getWallet(lone.db, userId);
      await lone.db('invoices').insert({
        ...{ id, user_id: userId, wallet_id: walletId, status: 'open', reason: 'manual' },
        ...{ amount_cents: 700, cause: `test:${id}`, processor_invoice_id: `in_${id}`, ...columns },
      });
      return id;
    }

    describe('of a payment that names nobody', () => {
      beforeEach(() => {
        const customerId = `cus_${userId}`;
        payment = { ...payment, userId: null, customerId };
        return lone.db('users').where({ id: userId }).update({ processor_customer_id: customerId });
      });

      it('makes a debt that it paid owed again', async () => {
        await add(PAID);
        const { paymentId } = payment;
        await debt({ status: 'paid', payment_id: paymentId, paid_at: new Date() });
        assert.deepEqual(sums(await looked(refundOf({ amountCents: 700 }))), [0, 700, 0]);
        assert.equal(await available(), PAID, 'it never was in the wallet');
      });

      it('settles first what it paid, whatever mirror of another invoice is gone', async () => {
        const [paid, gone] = [await debt({ reason: 'topup_failed' }), await debt({ amount_cents: 900 })];
        const { paymentId } = payment;
        const missing = new ProcessorError('refused', 'no such invoice', {
          code: 'resource_missing',
          status: 404,
        });
        lone.processor.answers = {
          getInvoice: (id) =>
            id === `in_${gone}`
              ? Promise.reject(missing)
              : Promise.resolve({
                  ...{ processorInvoiceId: id, status: 'paid', totalCents: 700, amountPaidCents: 700 },
                  ...{ currency: 'usd', hostedInvoiceUrl: null, invoicePdfUrl: null, paymentId },
                  ...{ paidAt: new Date(), customerId: null, invoiceId: paid },
                }),
        };
        payment = { ...payment, amountReceivedCents: 700 };
        assert.deepEqual(sums(await looked(refundOf({ amountCents: 700 }))), [700, 0, 0]);
        const entries = await lone.db('ledger_entries').orderBy('seq').select('wallet_id', 'amount_cents');
        const { id: walletId } = await getWallet(lone.db, userId);
        assert.deepEqual(
          entries.filter((entry) => entry.wallet_id === walletId).map((entry) => entry.amount_cents),
          [700, -700],
        );
        assert.equal((await lone.db('invoices').where({ id: paid }).first())?.status, 'paid');
      });

      it('costs nothing when it never credited the wallet', async () => {
        await add(PAID);
        assert.deepEqual(sums(await looked(refundOf())), [0, 0, 0]);
        assert.deepEqual([await invoices(), await available()], [[], PAID]);
      });

      it('costs nothing when it is parked, and what it brought when it was credited by hand', async () => {
        await add(PAID);
        await parkPayment(lone.db, payment, 'paid for somebody else', null);
        assert.deepEqual(sums(await looked(refundOf({ amountCents: 300 }))), [0, 0, 0]);
        assert.deepEqual([await invoices(), await available()], [[], PAID]);

        const operationId = newId('op');
        await lone.db.transaction(async (trx) => {
          const cause = { kind: 'operation', operationId } as const;
          await post(trx, await lockWalletOfUser(trx, userId), {
            type: 'adjustment',
            availableCents: 700,
            cause,
          });
          const action = { kind: 'adjust', userId, amountCents: 700 } as const;
          await recordAction(trx, { operationId, operator: 'ada', reason: 'it is hers', action }, {});
        });
        await actDirectly(lone.db, {
          ...{ operationId: newId('op'), operator: 'ada', reason: 'credited' },
          action: { kind: 'resolve_parked', paymentId: payment.paymentId, creditedBy: operationId },
        });
        assert.deepEqual(sums(await looked(refundOf({ amountCents: 700 }))), [700, 0, 0]);
        assert.equal(await available(), PAID);
      });

      it('is nothing of ours when its payer is a stranger', async () => {
        payment = { ...payment, customerId: 'cus_stranger' };
        assert.equal(await look(refundOf()), undefined);
        assert.deepEqual(lone.alarms, []);
      });

      it('is nothing of ours when no payment is behind its charge', async () => {
        lone.processor.answers = { getRefund: () => Promise.resolve(null) };
        await tell('refund', 're_of_nobody', 'refund.updated');
        assert.equal((await lone.run('lookAtRefund', 're_of_nobody')).state, 'missing');
      });
    });
  });

  describe('a dispute', () => {
    function disputeOf(columns: Partial<Dispute> = {}): Dispute {
      const { paymentId, chargeId } = payment;
      return {
        ...{ disputeId: `dp_${newId('top')}`, paymentId, chargeId: chargeId!, amountCents: PAID },
        ...{ currency: 'usd', status: 'needs_response' },
        ...{ withdrawn: true, reinstated: false, closed: false, ...columns },
      };
    }

    async function lookAt(
      dispute: Dispute,
      kind = 'charge.dispute.updated',
    ): Promise<RefundOrDisputeRow | undefined> {
      await tell('dispute', dispute.disputeId, kind);
      lone.processor.answers = {
        getPayment: () => Promise.resolve(payment),
        getDispute: () => Promise.resolve(dispute),
        getCardFingerprint: () => Promise.resolve(null),
      };
      await lone.run('lookAtDispute', dispute.disputeId);
      return lone.db('refunds_and_disputes').where({ id: dispute.disputeId }).first();
    }

    it('takes the money while it is open, and keeps it when it is lost', async () => {
      await credited();
      const dispute = disputeOf();
      const open = await lookAt(dispute);
      assert.deepEqual([open?.kind, open?.status, open?.closed_at], ['dispute', 'needs_response', null]);
      const lost = await lookAt({ ...dispute, status: 'lost', closed: true });
      assert.deepEqual([lost && sums(lost), lost?.closed_at === null], [[PAID, 0, 0], false]);
      assert.equal(await available(), 0);
    });

    it('gives back what was debited when it is won, once the money has come back', async () => {
      await credited(400);
      const dispute = disputeOf();
      await lookAt(dispute);
      const won = await lookAt({ ...dispute, status: 'won', closed: true });
      assert.deepEqual([won?.closed_at, await available()], [null, 0], 'it is still to come back');
      const reinstated = { ...dispute, status: 'won', closed: true, reinstated: true };
      for (let times = 0; times < 2; times += 1) await lookAt(reinstated, 'charge.dispute.funds_reinstated');
      assert.equal(await available(), 600);
      assert.deepEqual(
        (await invoices()).map(({ amount_cents: cents, status }) => [cents, status]),
        [[400, 'void']],
      );
    });

    it('never takes more than the payment, even when its own amount is larger', async () => {
      await credited();
      await add(5_000);
      const row = await lookAt(disputeOf({ amountCents: 1_300 }));
      assert.deepEqual([row && sums(row), await available()], [[PAID, 0, 0], 5_000]);
    });

    it('after a partial refund takes the rest only; when the refund fails, it takes that too', async () => {
      await credited();
      const refund = refundOf({ amountCents: 300, status: 'pending' });
      await looked(refund);
      const dispute = disputeOf();
      const row = await lookAt(dispute);
      assert.deepEqual(row && sums(row), [700, 0, 0]);
      await looked({ ...refund, status: 'failed' });
      const after = await lone.db('refunds_and_disputes').where({ id: dispute.disputeId }).first();
      assert.deepEqual([after && sums(after), await available()], [[PAID, 0, 0], 0]);
    });

    it('that is only an inquiry takes nothing until the bank goes on', async () => {
      await credited();
      const inquiry = disputeOf({ status: 'warning_needs_response', withdrawn: false });
      assert.deepEqual([(await lookAt(inquiry))?.taken_at, await available()], [null, PAID]);
      await lookAt(
        { ...inquiry, status: 'needs_response', withdrawn: true },
        'charge.dispute.funds_withdrawn',
      );
      assert.equal(await available(), 0);
    });

    it('moves no money by a stored event alone, and stays open until the processor says it as well', async () => {
      await credited();
      const closed = disputeOf({ status: 'lost', withdrawn: false, closed: true });
      const early = await lookAt(closed, 'charge.dispute.funds_withdrawn');
      assert.deepEqual([early?.taken_at, early?.closed_at, await available()], [null, null, PAID]);
      const taken = await lookAt({ ...closed, withdrawn: true });
      assert.deepEqual([taken && sums(taken), taken?.closed_at === null], [[PAID, 0, 0], false]);
      const forged = await lookAt({ ...closed, withdrawn: true }, 'charge.dispute.funds_reinstated');
      assert.deepEqual([forged?.given_back_at, forged?.closed_at, await available()], [null, null, 0]);
    });

    for (const [when, hoursAgo] of [
      ['of yesterday', 25],
      ['of the future', -1],
    ] as const) {
      it(`waits for nothing that a stored event ${when} alone says`, async () => {
        await credited();
        const closed = disputeOf({ status: 'lost', withdrawn: false, closed: true });
        const early = await lookAt(closed, 'charge.dispute.funds_withdrawn');
        assert.equal(early?.closed_at, null);
        await lone
          .db('processor_events')
          .where({ workflow_id: closed.disputeId })
          .update({ received_at: new Date(Date.now() - hoursAgo * 3_600_000) });
        const late = await lookAt(closed);
        assert.ok(late?.closed_at);
        assert.deepEqual([late.taken_at, await available()], [null, PAID]);
      });
    }

    it('in another currency leaves the wallet alone, loudly, as a refund does', async () => {
      await credited();
      const [dispute, refund] = [disputeOf({ currency: 'eur' }), refundOf({ currency: 'eur' })];
      assert.equal(await lookAt(dispute), undefined);
      lone.processor.reset();
      assert.equal(await look(refund), undefined);
      assert.equal(await available(), PAID);
      const told = lone.alarms.filter(({ currency }) => currency === 'eur').map(({ id }) => id);
      assert.deepEqual(told, [dispute.disputeId, refund.refundId]);
    });
  });
});
