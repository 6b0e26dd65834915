import assert from 'node:assert/strict';
import Stripe from 'stripe';
import { cards, payPage, startWorkbench, until, type Workbench } from './workbench.js';

const refusal = Stripe.errors.StripeInvalidRequestError;

describe('what the lab processor takes back', () => {
  let bench: Workbench;
  let customer: string;
  before(async () => {
    bench = await startWorkbench();
    customer = (await bench.stripe.customers.create({ email: 'payer@example.com' })).id;
  });
  after(() => bench.stop());

  async function chargeOf(method: string): Promise<Stripe.Charge> {
    const intent = await bench.stripe.paymentIntents.create({
      amount: 2000,
      currency: 'usd',
      customer,
      payment_method: method,
      payment_method_types: ['card'],
      confirm: true,
    });
    return bench.stripe.charges.retrieve(intent.latest_charge as string);
  }

  async function act<T>(path: string, fields: Record<string, string> = {}): Promise<T> {
    const response = await fetch(`${bench.lab.url}/lab/${path}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
    });
    const answer = (await response.json()) as T & { error?: { message: string } };
    if (!response.ok) throw new Error(answer.error?.message);
    return answer;
  }

  async function eventsOf(id: string): Promise<Stripe.Event[]> {
    const { events } = await bench.state();
    return events.filter(({ data }) => (data.object as { id?: string }).id === id);
  }

  async function kindsOf(id: string): Promise<string[]> {
    return (await eventsOf(id)).map(({ type }) => type);
  }

  describe('refunds', () => {
    it('may be partial, and the charge keeps what was refunded in all', async () => {
      const charge = await chargeOf('pm_card_visa');
      const first = await bench.stripe.refunds.create({ charge: charge.id, amount: 700 });
      assert.deepEqual(
        [first.status, first.amount, first.payment_intent],
        ['succeeded', 700, charge.payment_intent],
      );
      const rest = await bench.stripe.refunds.create({ payment_intent: charge.payment_intent as string });
      assert.equal(rest.amount, 1300);
      const seen = (await eventsOf(charge.id))
        .filter(({ type }) => type === 'charge.refunded')
        .map(({ data }) => data.object as Stripe.Charge);
      assert.deepEqual(
        seen.map(({ amount_refunded, refunded }) => [amount_refunded, refunded]),
        [
          [700, false],
          [2000, true],
        ],
      );
      assert.deepEqual(await kindsOf(first.id), ['refund.created']);
      const listed = await bench.stripe.refunds.list({ charge: charge.id });
      assert.deepEqual(
        listed.data.map(({ id }) => id),
        [rest.id, first.id],
      );
    });

    it('are refused beyond the charge, twice, and for what was never paid', async () => {
      const charge = await chargeOf('pm_card_visa');
      await assert.rejects(bench.stripe.refunds.create({ charge: charge.id, amount: 2001 }), refusal);
      await bench.stripe.refunds.create({ charge: charge.id });
      await assert.rejects(bench.stripe.refunds.create({ charge: charge.id }), {
        code: 'charge_already_refunded',
      });
      const open = await bench.stripe.paymentIntents.create({ amount: 500, currency: 'usd' });
      await assert.rejects(bench.stripe.refunds.create({ payment_intent: open.id }), refusal);
      await assert.rejects(bench.stripe.refunds.create({}), { code: 'parameter_missing' });
      await assert.rejects(bench.stripe.refunds.retrieve('re_none'), { code: 'resource_missing' });
    });

    it('that the receiver’s bank sends back fail afterwards, and count no longer', async () => {
      const charge = await chargeOf('pm_card_refundFail');
      const refund = await bench.stripe.refunds.create({ charge: charge.id });
      assert.deepEqual([refund.status, refund.failure_reason], ['failed', 'expired_or_canceled_card']);
      assert.deepEqual(await kindsOf(refund.id), ['refund.created', 'refund.updated', 'refund.failed']);
      const after = await bench.stripe.charges.retrieve(charge.id);
      assert.deepEqual([after.amount_refunded, after.refunded], [0, false]);
    });

    it('that wait succeed or fail as they are told, once', async () => {
      const create = async () =>
        bench.stripe.refunds.create({ charge: (await chargeOf('pm_card_pendingRefund')).id });
      const [first, second] = [await create(), await create()];
      assert.deepEqual([first.status, second.status], ['pending', 'pending']);
      assert.equal((await act<Stripe.Refund>(`refunds/${first.id}/succeed`)).status, 'succeeded');
      assert.deepEqual(await kindsOf(first.id), ['refund.created', 'refund.updated']);
      await assert.rejects(act(`refunds/${first.id}/succeed`), /waits for nothing/);
      assert.equal((await act<Stripe.Refund>(`refunds/${second.id}/fail`)).status, 'failed');
      await assert.rejects(act(`refunds/${second.id}/fail`), /can’t fail/);
    });
  });

  describe('disputes', () => {
    async function disputeOf(method: string): Promise<Stripe.Dispute> {
      const { id } = await chargeOf(method);
      const { data } = await bench.stripe.disputes.list({ charge: id });
      assert.equal(data.length, 1);
      return data[0]!;
    }
    const amountsOf = (dispute: Stripe.Dispute): number[] =>
      dispute.balance_transactions.map(({ amount }) => amount);

    it('of a card that disputes take the money and the fee at once, and forbid a refund', async () => {
      const dispute = await disputeOf('pm_card_createDispute');
      assert.deepEqual([dispute.status, dispute.amount], ['needs_response', 2000]);
      assert.deepEqual(
        dispute.balance_transactions.map(({ amount, fee, net }) => [amount, fee, net]),
        [[-2000, 1500, -3500]],
      );
      assert.deepEqual(await kindsOf(dispute.id), [
        'charge.dispute.created',
        'charge.dispute.funds_withdrawn',
      ]);
      const charge = await bench.stripe.charges.retrieve(dispute.charge as string);
      assert.equal(charge.disputed, true);
      await assert.rejects(bench.stripe.refunds.create({ charge: charge.id }), { code: 'charge_disputed' });
      await assert.rejects(bench.stripe.disputes.retrieve('du_none'), { code: 'resource_missing' });
    });

    it('are won by winning evidence, which gives everything back', async () => {
      const { id } = await disputeOf('pm_card_createDispute');
      const noted = await bench.stripe.disputes.update(id, {
        evidence: { uncategorized_text: 'winning_evidence' },
        submit: false,
      });
      assert.equal(noted.status, 'needs_response', 'evidence that is not submitted decides nothing');
      const won = await bench.stripe.disputes.update(id, {
        evidence: { uncategorized_text: 'winning_evidence' },
      });
      assert.equal(won.status, 'won');
      assert.deepEqual(amountsOf(won), [-2000, 2000]);
      assert.deepEqual((await kindsOf(id)).slice(-2), [
        'charge.dispute.funds_reinstated',
        'charge.dispute.closed',
      ]);
      await assert.rejects(bench.stripe.disputes.close(id), refusal);
    });

    it('are lost by losing evidence, by closing them, and by order; nothing comes back', async () => {
      const decide: ((id: string) => Promise<unknown>)[] = [
        (id) => bench.stripe.disputes.update(id, { evidence: { uncategorized_text: 'losing_evidence' } }),
        (id) => bench.stripe.disputes.close(id),
        (id) => act(`disputes/${id}/lose`),
      ];
      for (const lose of decide) {
        const { id } = await disputeOf('pm_card_createDispute');
        await lose(id);
        const lost = await bench.stripe.disputes.retrieve(id);
        assert.equal(lost.status, 'lost');
        assert.deepEqual(amountsOf(lost), [-2000]);
        assert.equal((await kindsOf(id)).at(-1), 'charge.dispute.closed');
      }
    });

    it('that are only inquiries take nothing until the bank takes them further', async () => {
      const inquiry = await disputeOf('pm_card_createDisputeInquiry');
      assert.deepEqual([inquiry.status, amountsOf(inquiry)], ['warning_needs_response', []]);
      assert.equal(inquiry.is_charge_refundable, true);
      const escalated = await act<Stripe.Dispute>(`disputes/${inquiry.id}/escalate`);
      assert.deepEqual([escalated.status, amountsOf(escalated)], ['needs_response', [-2000]]);
      await assert.rejects(act(`disputes/${inquiry.id}/escalate`), /Only an inquiry/);
      assert.equal((await act<Stripe.Dispute>(`disputes/${inquiry.id}/win`)).status, 'won');

      const other = await disputeOf('pm_card_createDisputeInquiry');
      const closed = await act<Stripe.Dispute>(`disputes/${other.id}/win`);
      assert.deepEqual([closed.status, amountsOf(closed)], ['warning_closed', []]);
    });
  });

  describe('orders to banks and card owners', () => {
    it('dispute any charge, with another amount and reason', async () => {
      const charge = await chargeOf('pm_card_visa');
      const fields = { amount: '1500', reason: 'duplicate' };
      const dispute = await act<Stripe.Dispute>(`charges/${charge.id}/dispute`, fields);
      assert.deepEqual([dispute.amount, dispute.reason], [1500, 'duplicate']);
      await assert.rejects(act(`charges/${charge.id}/dispute`, { amount: '1.5' }), /whole cents/);
      const inquiry = await act<Stripe.Dispute>(`charges/${(await chargeOf('pm_card_visa')).id}/dispute`, {
        inquiry: 'true',
      });
      assert.equal(inquiry.status, 'warning_needs_response');
    });

    for (const [outcome, status, paymentStatus, event] of [
      ['succeed', 'succeeded', 'paid', 'checkout.session.async_payment_succeeded'],
      ['decline', 'requires_payment_method', 'unpaid', 'checkout.session.async_payment_failed'],
    ] as const) {
      it(`let a payment that is processing ${outcome}, and its session with it`, async () => {
        const session = await bench.stripe.checkout.sessions.create({
          mode: 'payment',
          customer,
          line_items: [
            {
              quantity: 1,
              price_data: { currency: 'usd', unit_amount: 900, product_data: { name: 'Top-up' } },
            },
          ],
          success_url: 'http://shop.test/done',
        });
        await bench.order({ kind: 'processing' });
        await payPage(session.url!, cards.good);
        const waiting = await bench.stripe.checkout.sessions.retrieve(session.id);
        assert.deepEqual([waiting.status, waiting.payment_status], ['complete', 'unpaid']);
        const intentId = waiting.payment_intent as string;
        const intent = await act<Stripe.PaymentIntent>(`payment_intents/${intentId}/finish`, { outcome });
        assert.equal(intent.status, status);
        const settled = await bench.stripe.checkout.sessions.retrieve(session.id);
        assert.equal(settled.payment_status, paymentStatus);
        assert.equal((await kindsOf(session.id)).at(-1), event);
        await assert.rejects(act(`payment_intents/${intentId}/finish`), /not processing/);
      });
    }

    it('pay a session a second time with a payment of its own', async () => {
      const session = await bench.stripe.checkout.sessions.create({
        mode: 'payment',
        customer,
        line_items: [
          {
            quantity: 1,
            price_data: { currency: 'usd', unit_amount: 900, product_data: { name: 'Top-up' } },
          },
        ],
        payment_intent_data: { metadata: { topup_id: 'top_twice' } },
        success_url: 'http://shop.test/done',
      });
      await payPage(session.url!, cards.good);
      const second = await act<Stripe.PaymentIntent>(`checkout_sessions/${session.id}/pay_again`);
      assert.deepEqual([second.status, second.amount_received], ['succeeded', 900]);
      const { payment_intents } = await bench.state();
      const paid = payment_intents.filter(({ metadata }) => metadata['topup_id'] === 'top_twice');
      assert.equal(paid.length, 2);
    });

    it('renew a customer’s card', async () => {
      const method = await bench.stripe.paymentMethods.attach('pm_card_visa', { customer });
      await act(`payment_methods/${method.id}/renew`);
      const renewed = await bench.stripe.paymentMethods.retrieve(method.id);
      assert.equal(renewed.card!.exp_year, method.card!.exp_year + 4);
      const isRenewal = ({ type }: { type: string }) => type === 'payment_method.automatically_updated';
      await until(async () => (await bench.state()).events.some(isRenewal), 'the event of the renewal');
      await bench.stripe.paymentMethods.detach(method.id);
      await assert.rejects(act(`payment_methods/${method.id}/renew`), /no customer’s card/);
    });

    it('are refused for what is not there or not understood', async () => {
      await assert.rejects(act('charges/ch_none/dispute'), /No such charge/);
      await assert.rejects(act('charges/ch_none/explode'), /Order one of charges\/dispute/);
    });
  });
});
