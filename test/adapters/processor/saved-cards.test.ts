import assert from 'node:assert/strict';
import type { ChargeInput } from '../../../adapters/processor/processor.js';
import { createStripeProcessor } from '../../../adapters/processor/stripe.js';
import { cards, payPage, secretKey, startWorkbench, type Workbench } from '../../lab/processor/workbench.js';
import { checkoutInput, failureOf } from './calls.js';

describe('the Stripe adapter’s saved cards', () => {
  let bench: Workbench;
  before(async () => {
    bench = await startWorkbench();
  });
  after(() => bench.stop());
  afterEach(() => fetch(`${bench.lab.url}/lab/faults`, { method: 'DELETE' }));

  /** A charge of a new top-up with a card that was set up for it. */
  async function chargeOf(method: string, details: Partial<ChargeInput> = {}): Promise<ChargeInput> {
    const { topupId, userId, customerId, amountCents } = await checkoutInput(bench);
    const setup = await bench.stripe.setupIntents.create({
      customer: customerId,
      usage: 'off_session',
      payment_method_types: ['card'],
      payment_method: method,
      confirm: true,
    });
    return {
      ...{ topupId, userId, customerId, amountCents },
      ...{ cardId: setup.payment_method as string, source: 'saved_card', ...details },
    };
  }

  async function paymentsOf(topupId: string): Promise<string[]> {
    const { payment_intents } = await bench.state();
    return payment_intents.filter(({ metadata }) => metadata['topup_id'] === topupId).map(({ id }) => id);
  }

  describe('chargeSavedCard', () => {
    it('charges once however often it is asked, also at once', async () => {
      const input = await chargeOf('pm_card_visa');
      const payment = await bench.processor.chargeSavedCard(input);
      assert.deepEqual(payment, await bench.processor.chargeSavedCard(input));
      assert.deepEqual(
        [payment.status, payment.amountReceivedCents, payment.currency, payment.topupId, payment.userId],
        ['succeeded', 2500, 'usd', input.topupId, 'usr_1'],
      );
      assert.equal((await fetch(payment.receiptUrl!)).status, 200);
      assert.deepEqual(await paymentsOf(input.topupId), [payment.paymentId]);
    });

    it('gets the same charge with the same key when its answer was lost', async () => {
      const input = await chargeOf('pm_card_visa');
      await bench.order({ kind: 'lost', path: '/v1/payment_intents', silent: true });
      const impatient = createStripeProcessor({ secretKey, apiUrl: bench.lab.url, timeoutMs: 300 });
      assert.equal((await failureOf(impatient.chargeSavedCard(input))).kind, 'unknown');
      const payment = await bench.processor.chargeSavedCard(input);
      assert.deepEqual(await paymentsOf(input.topupId), [payment.paymentId]);
      assert.equal((await bench.state()).requests.at(-1)?.idempotencyKey, `charge:${input.topupId}`);
    });

    it('is declined with the bank’s codes, again and again under the same key', async () => {
      const input = await chargeOf('pm_card_chargeCustomerFail');
      const first = await failureOf(bench.processor.chargeSavedCard(input));
      const second = await failureOf(bench.processor.chargeSavedCard(input));
      const [paymentId] = await paymentsOf(input.topupId);
      assert.equal(first.kind, 'declined');
      assert.deepEqual(first.details, {
        code: 'card_declined',
        declineCode: 'generic_decline',
        status: 402,
        paymentId,
      });
      assert.deepEqual(second.details, first.details);
      const payment = await bench.processor.getPayment(paymentId!);
      assert.equal(payment.status, 'failed');
      assert.deepEqual(payment.failure, { code: 'card_declined', declineCode: 'generic_decline' });
    });

    it('tells that the bank wants authentication; the payment can then be cancelled, twice', async () => {
      const error = await failureOf(
        bench.processor.chargeSavedCard(await chargeOf('pm_card_visa', await askingCard())),
      );
      assert.deepEqual([error.kind, error.details.code], ['declined', 'authentication_required']);
      const cancelled = await bench.processor.cancelPayment(error.details.paymentId!);
      assert.equal(cancelled.status, 'canceled');
      assert.equal((await bench.processor.cancelPayment(cancelled.paymentId)).status, 'canceled');
    });

    it('is refused with a detached card, and nothing is charged', async () => {
      const input = await chargeOf('pm_card_visa');
      await bench.processor.detachCard(input.cardId);
      const error = await failureOf(bench.processor.chargeSavedCard(input));
      assert.equal(error.kind, 'refused');
      assert.equal((await bench.processor.getCard(input.cardId)).customerId, null);
    });
  });

  /** A card that was attached but never set up for absences: its bank asks for authentication. */
  async function askingCard(): Promise<{ cardId: string }> {
    const { customerId } = await checkoutInput(bench);
    const method = await bench.stripe.paymentMethods.attach('pm_card_authenticationRequired', {
      customer: customerId,
    });
    return { cardId: method.id };
  }

  describe('cancelPayment', () => {
    it('leaves a payment that succeeded as it is', async () => {
      const { paymentId } = await bench.processor.chargeSavedCard(await chargeOf('pm_card_visa'));
      assert.equal((await bench.processor.cancelPayment(paymentId)).status, 'succeeded');
    });
  });

  describe('findPaymentOfTopup', () => {
    it('finds the payment of a top-up among its customer’s, and none where there is none', async () => {
      const input = await chargeOf('pm_card_visa');
      const createdFrom = new Date(Date.now() - 60_000);
      const asked = { customerId: input.customerId, topupId: input.topupId, createdFrom };
      assert.equal(await bench.processor.findPaymentOfTopup(asked), null);
      const payment = await bench.processor.chargeSavedCard(input);
      await bench.processor.chargeSavedCard(await chargeOf('pm_card_visa'));
      assert.deepEqual(await bench.processor.findPaymentOfTopup(asked), payment);
      const later = { ...asked, createdFrom: new Date(Date.now() + 60_000) };
      assert.equal(await bench.processor.findPaymentOfTopup(later), null);
    });
  });

  describe('createCardSetup', () => {
    it('begins the saving of a card for absences, once per number', async () => {
      const { customerId, userId } = await checkoutInput(bench);
      const first = await bench.processor.createCardSetup({ userId, customerId, setupNo: 1 });
      const again = await bench.processor.createCardSetup({ userId, customerId, setupNo: 1 });
      const next = await bench.processor.createCardSetup({ userId, customerId, setupNo: 2 });
      assert.deepEqual(again, first);
      assert.notEqual(next.setupId, first.setupId);
      const setup = await bench.stripe.setupIntents.retrieve(first.setupId);
      assert.deepEqual([setup.usage, setup.metadata], ['off_session', { user_id: 'usr_1' }]);
      assert.equal(setup.client_secret, first.clientSecret);
    });
  });

  describe('getCard', () => {
    it('tells brand, last four digits, expiry, whose it is, and whether it was kept by consent', async () => {
      const { cardId, customerId } = await chargeOf('pm_card_mastercard');
      const card = await bench.processor.getCard(cardId);
      assert.deepEqual(card, {
        cardId,
        customerId,
        brand: 'mastercard',
        last4: '4444',
        expMonth: 12,
        fingerprint: 'lab555555554444',
        expYear: card.expYear,
        keptByConsent: false,
      });
    });

    it('comes with a session’s payment, where the payer’s consent shows', async () => {
      for (const save of [true, false]) {
        const input = await checkoutInput(bench);
        const { sessionId, url } = await bench.processor.createCheckoutSession(input);
        await payPage(url!, cards.good, save ? { save: 'on' } : {});
        const { payment } = await bench.processor.getCheckoutSession(sessionId);
        assert.equal(payment?.card?.last4, '4242');
        assert.equal(payment.card.keptByConsent, save);
        assert.equal(payment.card.customerId, save ? input.customerId : null);
      }
    });
  });

  describe('detachCard', () => {
    it('detaches, and does so again without complaint; also a card that never was', async () => {
      const { cardId } = await chargeOf('pm_card_visa');
      await bench.processor.detachCard(cardId);
      await bench.stripe.paymentMethods.retrieve(cardId);
      await bench.processor.detachCard(cardId);
      await bench.processor.detachCard('pm_never_was');
      const detached = (await bench.state()).events.filter(({ type }) => type === 'payment_method.detached');
      assert.equal(detached.filter(({ data }) => (data.object as { id: string }).id === cardId).length, 1);
    });

    it('does so as well when somebody else detached it', async () => {
      const { cardId } = await chargeOf('pm_card_visa');
      await bench.stripe.paymentMethods.detach(cardId);
      await bench.processor.detachCard(cardId);
    });
  });

  describe('cancelCardSetup', () => {
    it('takes a form that is over for ended, and a refused key for nothing', async () => {
      const { customerId } = await bench.processor.createCustomer({
        userId: 'usr_k',
        email: 'k@example.com',
      });
      const { setupId } = await bench.processor.createCardSetup({ userId: 'usr_k', customerId, setupNo: 1 });
      const stranger = createStripeProcessor({ secretKey: 'sk_test_other', apiUrl: bench.lab.url });
      const error = await failureOf(stranger.cancelCardSetup(setupId));
      assert.deepEqual([error.details.status, error.isOfPeer], [401, true]);
      await bench.processor.cancelCardSetup(setupId);
      await bench.processor.cancelCardSetup(setupId);
      assert.equal((await bench.stripe.setupIntents.retrieve(setupId)).status, 'canceled');
    });
  });

  describe('listEvents', () => {
    it('pages through all events since an instant', async () => {
      const since = new Date(Date.now() - 3600_000);
      const all = (await bench.state()).events;
      while (all.length <= 100) {
        const { id, type } = await oneMoreEvent();
        all.push({ id, type } as (typeof all)[number]);
      }
      const first = await bench.processor.listEvents({ since, after: null });
      assert.equal(first.events.length, 100);
      assert.equal(first.events[0]!.id, all.at(-1)!.id);
      const second = await bench.processor.listEvents({ since, after: first.after });
      assert.equal(second.after, null);
      assert.equal(first.events.length + second.events.length, all.length);
      const none = await bench.processor.listEvents({ since: new Date(Date.now() + 3600_000), after: null });
      assert.deepEqual(none, { events: [], after: null });
    });

    async function oneMoreEvent(): Promise<{ id: string; type: string }> {
      await bench.stripe.customers.create({ email: 'more@example.com' });
      const { data } = await bench.stripe.events.list({ limit: 1 });
      return data[0]!;
    }
  });
});
