import assert from 'node:assert/strict';
import { createStripeProcessor } from '../../../adapters/processor/stripe.js';
import { cards, payPage, startWorkbench, type Workbench } from '../../lab/processor/workbench.js';
import { checkoutInput, failureOf } from './calls.js';

describe('the Stripe adapter', () => {
  let bench: Workbench;
  before(async () => {
    bench = await startWorkbench();
  });
  after(() => bench.stop());

  describe('createCustomer', () => {
    it('makes one customer of a user however often it is asked, also at once', async () => {
      const input = { userId: 'usr_twice', email: 'twice@example.com' };
      const answers = await Promise.all([
        bench.processor.createCustomer(input),
        bench.processor.createCustomer(input),
      ]);
      const again = await bench.processor.createCustomer(input);
      const { customers } = await bench.state();
      const made = customers.filter((customer) => customer.email === 'twice@example.com');
      assert.equal(made.length, 1);
      assert.deepEqual([...answers, again], Array(3).fill({ customerId: made[0]!.id }));
      assert.deepEqual(made[0]!.metadata, { user_id: 'usr_twice' });
    });

    it('is refused when the same user comes with another address', async () => {
      await bench.processor.createCustomer({ userId: 'usr_moved', email: 'old@example.com' });
      const error = await failureOf(
        bench.processor.createCustomer({ userId: 'usr_moved', email: 'new@example.com' }),
      );
      assert.equal(error.kind, 'refused');
      assert.deepEqual(error.details, { code: 'idempotency_error', status: 400 });
    });
  });

  describe('createCheckoutSession', () => {
    it('opens a page for a card payment in dollars that names our top-up on session and payment', async () => {
      const input = await checkoutInput(bench);
      const session = await bench.processor.createCheckoutSession(input);
      assert.equal(session.status, 'open');
      assert.equal(session.paymentStatus, 'unpaid');
      assert.equal(session.payment, null);
      assert.ok(session.url?.startsWith(bench.lab.url));
      assert.ok(Math.abs(session.expiresAt.getTime() - Date.now() - 24 * 3600_000) < 5000);

      const kept = await bench.stripe.checkout.sessions.retrieve(session.sessionId);
      assert.equal(kept.amount_total, 2500);
      assert.equal(kept.currency, 'usd');
      assert.equal(kept.customer, input.customerId);
      assert.equal(kept.client_reference_id, input.topupId);
      assert.deepEqual(kept.metadata, { user_id: 'usr_1', topup_id: input.topupId });
      assert.deepEqual(kept.payment_method_types, ['card']);
      assert.equal(kept.saved_payment_method_options?.payment_method_save, 'enabled');
      assert.equal(kept.adaptive_pricing?.enabled, false);

      await payPage(session.url!, cards.good);
      const paid = await bench.stripe.checkout.sessions.retrieve(session.sessionId, {
        expand: ['payment_intent'],
      });
      assert.ok(typeof paid.payment_intent === 'object');
      assert.deepEqual(paid.payment_intent?.metadata, { user_id: 'usr_1', topup_id: input.topupId });
    });

    it('answers the same session when it is repeated', async () => {
      const input = await checkoutInput(bench);
      const [first, second] = [
        await bench.processor.createCheckoutSession(input),
        await bench.processor.createCheckoutSession(input),
      ];
      assert.equal(second.sessionId, first.sessionId);
    });

    it('closes the page when it is told', async () => {
      const expiresAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3600_000);
      const session = await bench.processor.createCheckoutSession(await checkoutInput(bench, { expiresAt }));
      assert.deepEqual(session.expiresAt, expiresAt);
    });

    it('is refused for an amount below the minimum and for a customer who does not exist', async () => {
      const small = await failureOf(
        bench.processor.createCheckoutSession(await checkoutInput(bench, { amountCents: 49 })),
      );
      assert.equal(small.kind, 'refused');
      assert.deepEqual(small.details, { code: 'amount_too_small', status: 400 });
      const stranger = await failureOf(
        bench.processor.createCheckoutSession(await checkoutInput(bench, { customerId: 'cus_none' })),
      );
      assert.equal(stranger.kind, 'refused');
      assert.deepEqual(stranger.details, { code: 'resource_missing', status: 400 });
    });
  });

  describe('getCheckoutSession', () => {
    it('tells what was received, by which charge, and where its receipt is', async () => {
      const { sessionId, url } = await bench.processor.createCheckoutSession(await checkoutInput(bench));
      await payPage(url!, cards.good);
      const session = await bench.processor.getCheckoutSession(sessionId);
      assert.equal(session.status, 'complete');
      assert.equal(session.paymentStatus, 'paid');
      assert.equal(session.url, null);
      assert.equal(session.payment?.status, 'succeeded');
      assert.equal(session.payment.amountReceivedCents, 2500);
      assert.equal(session.payment.currency, 'usd');
      const charge = (await bench.state()).charges.find(({ id }) => id === session.payment?.chargeId);
      assert.equal(charge?.payment_intent, session.payment.paymentId);
      const receipt = await fetch(session.payment.receiptUrl!);
      assert.equal(receipt.status, 200);
      assert.match(await receipt.text(), /\$25\.00/);
    });

    it('tells of a declined attempt that nothing was received', async () => {
      const { sessionId, url } = await bench.processor.createCheckoutSession(await checkoutInput(bench));
      await payPage(url!, cards.declined);
      const session = await bench.processor.getCheckoutSession(sessionId);
      assert.equal(session.status, 'open');
      assert.equal(session.paymentStatus, 'unpaid');
      assert.equal(session.payment?.status, 'failed');
      assert.equal(session.payment.amountReceivedCents, 0);
    });

    it('is refused for a session that does not exist, and with a wrong key', async () => {
      const missing = await failureOf(bench.processor.getCheckoutSession('cs_test_none'));
      assert.equal(missing.kind, 'refused');
      assert.deepEqual(missing.details, { code: 'resource_missing', status: 404 });
      const stranger = createStripeProcessor({ secretKey: 'sk_test_other', apiUrl: bench.lab.url });
      const unauthorized = await failureOf(stranger.getCheckoutSession('cs_test_none'));
      assert.equal(unauthorized.kind, 'refused');
      assert.equal(unauthorized.details.status, 401);
    });
  });

  describe('without a secret key', () => {
    it('is disabled, and refuses every call', async () => {
      const disabled = createStripeProcessor({ secretKey: '', apiUrl: null });
      assert.equal(disabled.enabled, false);
      assert.equal(bench.processor.enabled, true);
      assert.deepEqual(Object.keys(disabled).sort(), Object.keys(bench.processor).sort());
      const calls: Partial<Record<string, unknown>> = { ...disabled, enabled: undefined };
      for (const [name, call] of Object.entries(calls)) {
        if (typeof call !== 'function') continue;
        const error = await failureOf((call as () => Promise<unknown>)());
        assert.equal(error.kind, 'refused', name);
        assert.equal(error.details.code, 'billing_disabled');
      }
    });
  });
});
