import assert from 'node:assert/strict';
import Stripe from 'stripe';
import { postForm, publishableKey, startWorkbench, type Workbench } from './workbench.js';

describe('the lab processor’s payments', () => {
  let bench: Workbench;
  let customer: string;
  before(async () => {
    bench = await startWorkbench();
    customer = (await bench.stripe.customers.create({ email: 'payer@example.com' })).id;
  });
  after(() => bench.stop());

  function payOffSession(
    method: string,
    details: Partial<Stripe.PaymentIntentCreateParams> = {},
  ): Promise<Stripe.PaymentIntent> {
    return bench.stripe.paymentIntents.create({
      amount: 2000,
      currency: 'usd',
      customer,
      payment_method: method,
      payment_method_types: ['card'],
      off_session: true,
      confirm: true,
      ...details,
    });
  }

  async function declineOf(call: Promise<unknown>): Promise<Stripe.errors.StripeCardError> {
    const error = await call.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof Stripe.errors.StripeCardError, `a decline was expected, not ${String(error)}`);
    return error;
  }

  async function eventTypesOf(id: string): Promise<string[]> {
    const { events } = await bench.state();
    return events.filter((event) => (event.data.object as { id?: string }).id === id).map(({ type }) => type);
  }

  it('charge a saved card while its owner is away', async () => {
    const method = await bench.stripe.paymentMethods.attach('pm_card_visa', { customer });
    assert.equal(method.card?.last4, '4242');
    const intent = await payOffSession(method.id);
    assert.equal(intent.status, 'succeeded');
    assert.equal(intent.amount_received, 2000);
    const charge = await bench.stripe.charges.retrieve(intent.latest_charge as string);
    assert.equal(charge.paid, true);
    assert.equal(charge.payment_intent, intent.id);
    assert.deepEqual(await eventTypesOf(intent.id), ['payment_intent.created', 'payment_intent.succeeded']);
    assert.deepEqual(await eventTypesOf(charge.id), ['charge.succeeded']);
    const again = await payOffSession(method.id);
    assert.equal(again.status, 'succeeded', 'a saved card can be charged again');
  });

  for (const [method, code, declineCode] of [
    ['pm_card_visa_chargeDeclined', 'card_declined', 'generic_decline'],
    ['pm_card_visa_chargeDeclinedInsufficientFunds', 'card_declined', 'insufficient_funds'],
    ['pm_card_visa_chargeDeclinedLostCard', 'card_declined', 'lost_card'],
    ['pm_card_visa_chargeDeclinedStolenCard', 'card_declined', 'stolen_card'],
    ['pm_card_chargeDeclinedExpiredCard', 'expired_card', 'expired_card'],
    ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc', 'incorrect_cvc'],
    ['pm_card_chargeDeclinedProcessingError', 'processing_error', 'processing_error'],
  ] as const) {
    it(`decline ${method} with ${declineCode}, and keep the failed charge`, async () => {
      const error = await declineOf(payOffSession(method));
      assert.equal(error.code, code);
      assert.equal(error.decline_code, declineCode);
      assert.equal(error.payment_intent?.status, 'requires_payment_method');
      const charge = await bench.stripe.charges.retrieve(error.charge!);
      assert.equal(charge.status, 'failed');
      assert.equal(charge.amount_captured, 0);
      assert.deepEqual(await eventTypesOf(error.payment_intent.id), [
        'payment_intent.created',
        'payment_intent.payment_failed',
      ]);
      await declineOf(bench.stripe.paymentMethods.attach(method, { customer }));
    });
  }

  it('decline the charge of a card that can be attached', async () => {
    const method = await bench.stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
    assert.equal((await declineOf(payOffSession(method.id))).decline_code, 'generic_decline');
  });

  it('demand authentication off-session as a decline, unless the card was set up for it', async () => {
    const error = await declineOf(payOffSession('pm_card_authenticationRequiredOnSetup'));
    assert.equal(error.code, 'authentication_required');
    assert.equal(error.payment_intent?.status, 'requires_payment_method');

    const setup = await bench.stripe.setupIntents.create({
      customer,
      payment_method: 'pm_card_authenticationRequiredOnSetup',
      payment_method_types: ['card'],
      usage: 'off_session',
      confirm: true,
    });
    assert.equal(setup.status, 'requires_action');
    await postForm(setup.next_action!.redirect_to_url!.url!, { outcome: 'approve' });
    const done = await bench.stripe.setupIntents.retrieve(setup.id);
    assert.equal(done.status, 'succeeded');
    assert.equal((await payOffSession(done.payment_method as string)).status, 'succeeded');
    const present = await payOffSession(done.payment_method as string, { off_session: false });
    assert.equal(present.status, 'requires_action', 'an owner who is there is asked all the same');
    assert.deepEqual(await eventTypesOf(setup.id), [
      'setup_intent.created',
      'setup_intent.requires_action',
      'setup_intent.succeeded',
    ]);
  });

  it('wait for the bank when the payer is there, and go on by their answer', async () => {
    const create = (): Promise<Stripe.PaymentIntent> =>
      payOffSession('pm_card_authenticationRequired', {
        off_session: false,
        return_url: 'http://shop.test/back',
      });
    const approved = await create();
    assert.equal(approved.status, 'requires_action');
    const answer = await postForm(approved.next_action!.redirect_to_url!.url!, { outcome: 'approve' });
    assert.match(
      answer.headers.get('location') ?? '',
      /^http:\/\/shop\.test\/back\?.*redirect_status=succeeded/,
    );
    assert.equal((await bench.stripe.paymentIntents.retrieve(approved.id)).status, 'succeeded');

    const refused = await create();
    await postForm(refused.next_action!.redirect_to_url!.url!, { outcome: 'refuse' });
    const after = await bench.stripe.paymentIntents.retrieve(refused.id);
    assert.equal(after.status, 'requires_payment_method');
    assert.equal(after.last_payment_error?.code, 'payment_intent_authentication_failure');
    assert.equal(after.latest_charge, null);
  });

  it('are cancelled while unpaid, and only then', async () => {
    const open = await bench.stripe.paymentIntents.create({ amount: 500, currency: 'usd' });
    assert.equal((await bench.stripe.paymentIntents.cancel(open.id)).status, 'canceled');
    const paid = await payOffSession('pm_card_visa');
    await assert.rejects(bench.stripe.paymentIntents.cancel(paid.id), {
      code: 'payment_intent_unexpected_state',
    });
    await assert.rejects(bench.stripe.paymentIntents.confirm(open.id, { payment_method: 'pm_card_visa' }), {
      code: 'payment_intent_unexpected_state',
    });
  });

  it('can’t use a card that was detached, or used once without a customer', async () => {
    const attached = await bench.stripe.paymentMethods.attach('pm_card_visa', { customer });
    const listed = await bench.stripe.customers.listPaymentMethods(customer);
    assert.ok(listed.data.some(({ id }) => id === attached.id));
    const detached = await bench.stripe.paymentMethods.detach(attached.id);
    assert.equal(detached.customer, null);
    const again = await bench.stripe.customers.listPaymentMethods(customer);
    assert.ok(!again.data.some(({ id }) => id === attached.id));
    await assert.rejects(payOffSession(attached.id), Stripe.errors.StripeInvalidRequestError);
    await assert.rejects(
      bench.stripe.paymentMethods.attach(attached.id, { customer }),
      Stripe.errors.StripeInvalidRequestError,
    );

    const once = await payOffSession('pm_card_visa', { off_session: false });
    await assert.rejects(
      payOffSession(once.payment_method as string),
      Stripe.errors.StripeInvalidRequestError,
    );
  });

  it('can’t use a card of another customer', async () => {
    const other = await bench.stripe.customers.create({});
    const method = await bench.stripe.paymentMethods.attach('pm_card_visa', { customer: other.id });
    await assert.rejects(payOffSession(method.id), Stripe.errors.StripeInvalidRequestError);
  });

  it('keep the card for later when they are told to', async () => {
    const intent = await payOffSession('pm_card_visa', {
      off_session: false,
      setup_future_usage: 'off_session',
    });
    const method = await bench.stripe.paymentMethods.retrieve(intent.payment_method as string);
    assert.equal(method.customer, customer);
  });

  it('are found by their metadata', async () => {
    const intent = await payOffSession('pm_card_visa', { metadata: { topup_id: 'top_search' } });
    const found = await bench.stripe.paymentIntents.search({
      query: "metadata['topup_id']:'top_search' AND status:'succeeded'",
    });
    assert.deepEqual(
      found.data.map(({ id }) => id),
      [intent.id],
    );
    const none = await bench.stripe.paymentIntents.search({
      query: 'metadata["topup_id"]:"top_search" AND -status:"succeeded"',
    });
    assert.deepEqual(none.data, []);
    await assert.rejects(bench.stripe.paymentIntents.search({ query: 'nonsense' }), { param: 'query' });
  });

  it('are declined once when a decline was ordered, whatever the card', async () => {
    await bench.order({ kind: 'decline', declineCode: 'insufficient_funds' });
    assert.equal((await declineOf(payOffSession('pm_card_visa'))).decline_code, 'insufficient_funds');
    assert.equal((await payOffSession('pm_card_visa')).status, 'succeeded');
  });

  it('let a browser confirm a setup with the publishable key and the client secret only', async () => {
    const setup = await bench.stripe.setupIntents.create({ customer, payment_method_types: ['card'] });
    const confirm = (clientSecret: string): Promise<Response> =>
      fetch(`${bench.lab.url}/v1/setup_intents/${setup.id}/confirm`, {
        method: 'POST',
        headers: { authorization: `Bearer ${publishableKey}` },
        body: new URLSearchParams({ client_secret: clientSecret, payment_method: 'pm_card_visa' }),
      });
    assert.equal((await confirm('guessed')).status, 403);
    const confirmed = (await (await confirm(setup.client_secret!)).json()) as Stripe.SetupIntent;
    assert.equal(confirmed.status, 'succeeded');
    const method = await bench.stripe.paymentMethods.retrieve(confirmed.payment_method as string);
    assert.equal(method.customer, customer);
  });

  it('refuse amounts and currencies that the processor does not take', async () => {
    for (const fields of [{ amount: 49 }, { amount: 100_000_000 }, { currency: 'eur' }, { amount: 10.5 }]) {
      await assert.rejects(payOffSession('pm_card_visa', fields), Stripe.errors.StripeInvalidRequestError);
    }
  });
});
