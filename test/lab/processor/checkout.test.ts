import assert from 'node:assert/strict';
import type Stripe from 'stripe';
import { cards, payPage, postForm, startWorkbench, type Workbench } from './workbench.js';

describe('the lab processor’s payment page', () => {
  let bench: Workbench;
  let customer: string;
  let nowMs = Date.now();
  before(async () => {
    bench = await startWorkbench({ clock: () => nowMs });
    customer = (await bench.stripe.customers.create({ email: 'payer@example.com' })).id;
  });
  after(() => bench.stop());

  function open(
    details: Partial<Stripe.Checkout.SessionCreateParams> = {},
  ): Promise<Stripe.Checkout.Session> {
    return bench.stripe.checkout.sessions.create({
      mode: 'payment',
      customer,
      payment_method_types: ['card'],
      line_items: [
        { quantity: 1, price_data: { currency: 'usd', unit_amount: 1234, product_data: { name: 'Top-up' } } },
      ],
      success_url: 'http://shop.test/done?session={CHECKOUT_SESSION_ID}',
      cancel_url: 'http://shop.test/billing?session=cancel',
      ...details,
    });
  }

  const read = (id: string): Promise<Stripe.Checkout.Session> =>
    bench.stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent.latest_charge'] });

  async function savedCards(): Promise<number> {
    return (await bench.stripe.customers.listPaymentMethods(customer)).data.length;
  }

  it('is a plain form without scripts or anything from elsewhere', async () => {
    const session = await open();
    const page = await fetch(session.url!);
    assert.equal(page.status, 200);
    const html = await page.text();
    assert.match(html, /Pay \$12\.34/);
    assert.match(html, /payer@example\.com/);
    assert.match(html, /<form method="post"/);
    assert.doesNotMatch(html, /<script|https?:\/\//i);
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  });

  it('takes a good card, and sends the payer back with the session’s id', async () => {
    const session = await open();
    const answer = await payPage(session.url!, cards.good);
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get('location'), `http://shop.test/done?session=${session.id}`);
    const paid = await read(session.id);
    assert.equal(paid.status, 'complete');
    assert.equal(paid.payment_status, 'paid');
    assert.equal(paid.url, null);
    assert.equal((paid.payment_intent as Stripe.PaymentIntent).amount_received, 1234);
  });

  for (const [what, number, message] of [
    ['declined', cards.declined, /declined/],
    ['without funds', cards.insufficientFunds, /funds/],
    ['expired', cards.expired, /expired/],
  ] as const) {
    it(`stays open after a card that is ${what}, says so, and takes another`, async () => {
      const session = await open();
      const answer = await payPage(session.url!, number);
      assert.equal(answer.status, 402);
      assert.match(await answer.text(), message);
      const unpaid = await read(session.id);
      assert.equal(unpaid.status, 'open');
      assert.equal(unpaid.payment_status, 'unpaid');
      assert.equal((unpaid.payment_intent as Stripe.PaymentIntent).status, 'requires_payment_method');

      assert.equal((await payPage(session.url!, cards.good)).status, 303);
      const paid = await read(session.id);
      const before = (unpaid.payment_intent as Stripe.PaymentIntent).id;
      assert.equal((paid.payment_intent as Stripe.PaymentIntent).id, before, 'one payment, tried twice');
    });
  }

  it('says which field is wrong, without any attempt to charge', async () => {
    const session = await open();
    for (const [number, fields, message] of [
      ['4242424242424241', {}, /number/],
      ['', {}, /number/],
      [cards.good, { cardExpiry: '12/20' }, /date/],
      [cards.good, { cardExpiry: 'soon' }, /month|date/],
      [cards.good, { cardCvc: '1' }, /security code/],
      ['5105105105105100', {}, /test cards/],
    ] as const) {
      const answer = await payPage(session.url!, number, fields);
      assert.equal(answer.status, 402);
      assert.match(await answer.text(), message);
    }
    assert.equal((await read(session.id)).payment_intent, null);
  });

  it('asks the bank for a card that needs authentication, and goes on as the payer answers', async () => {
    const session = await open();
    const asked = await payPage(session.url!, cards.authentication);
    assert.equal(asked.status, 303);
    const bank = new URL(asked.headers.get('location')!, bench.lab.url).toString();
    assert.match(await (await fetch(bank)).text(), /\$12\.34/);
    const refused = await postForm(bank, { outcome: 'refuse' });
    assert.equal(refused.headers.get('location'), `/c/pay/${session.id}`);
    assert.match(await (await fetch(session.url!)).text(), /not approved/);

    await payPage(session.url!, cards.authentication);
    const approved = await postForm(bank, { outcome: 'approve' });
    assert.equal(approved.headers.get('location'), `http://shop.test/done?session=${session.id}`);
    assert.equal((await read(session.id)).payment_status, 'paid');
    assert.equal((await postForm(bank, { outcome: 'approve' })).status, 409);
  });

  it('takes the payer back after a cancel, and stays open', async () => {
    const session = await open();
    const answer = await postForm(`${session.url!}/cancel`, {});
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get('location'), 'http://shop.test/billing?session=cancel');
    assert.equal((await read(session.id)).status, 'open');
    assert.equal((await payPage(session.url!, cards.good)).status, 303);
  });

  it('charges once, however often the form is sent', async () => {
    const session = await open();
    const { url } = session;
    const charges = (await bench.state()).charges.length;
    const answers = await Promise.all([payPage(url!, cards.good), payPage(url!, cards.good)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409]);
    assert.match(await (await payPage(url!, cards.good)).text(), /Already paid/);
    assert.equal((await bench.state()).charges.length, charges + 1);
  });

  it('keeps the card only when it was offered and the payer ticked it', async () => {
    const offer = { saved_payment_method_options: { payment_method_save: 'enabled' as const } };
    const start = await savedCards();
    const plain = await open();
    assert.doesNotMatch(await (await fetch(plain.url!)).text(), /name="save"/);
    await payPage(plain.url!, cards.good, { save: 'on' });
    await payPage((await open(offer)).url!, cards.good);
    assert.equal(await savedCards(), start);

    const offered = await open(offer);
    assert.match(await (await fetch(offered.url!)).text(), /name="save"/);
    await payPage(offered.url!, cards.good, { save: 'on' });
    assert.equal(await savedCards(), start + 1);
    const { data } = await bench.stripe.customers.listPaymentMethods(customer);
    assert.equal(data[0]?.allow_redisplay, 'always');
  });

  it('can be expired, and then takes no payment', async () => {
    const session = await open();
    await payPage(session.url!, cards.declined);
    const expired = await bench.stripe.checkout.sessions.expire(session.id);
    assert.equal(expired.status, 'expired');
    const answer = await payPage(session.url!, cards.good);
    assert.equal(answer.status, 410);
    const after = await read(session.id);
    assert.equal((after.payment_intent as Stripe.PaymentIntent).status, 'canceled');
    await assert.rejects(bench.stripe.checkout.sessions.expire(session.id), { statusCode: 400 });
  });

  it('expires by itself a day after it was opened', async () => {
    const session = await open();
    nowMs += 24 * 3600_000 + 1000;
    assert.equal((await payPage(session.url!, cards.good)).status, 410);
    const [delivery] = await bench.receiver.waitFor(({ type, body }) => {
      return type === 'checkout.session.expired' && body.includes(session.id);
    });
    assert.ok(delivery !== undefined);
    assert.equal((await read(session.id)).status, 'expired');
  });

  it('is not opened without what the processor wants', async () => {
    const lineItem = (unitAmount: number): Stripe.Checkout.SessionCreateParams.LineItem => ({
      quantity: 1,
      price_data: { currency: 'usd', unit_amount: unitAmount, product_data: { name: 'Top-up' } },
    });
    const soon = Math.floor(nowMs / 1000);
    for (const [fields, code] of [
      [{ line_items: [] }, 'parameter_missing'],
      [{ line_items: [lineItem(49)] }, 'amount_too_small'],
      [{ line_items: [lineItem(-1)] }, 'parameter_invalid_integer'],
      [{ success_url: 'not a url' }, 'url_invalid'],
      [{ expires_at: soon + 60 }, 'parameter_invalid_integer'],
      [{ expires_at: soon + 25 * 3600 }, 'parameter_invalid_integer'],
      [{ customer: 'cus_none' }, 'resource_missing'],
    ] as const) {
      await assert.rejects(open(fields as Partial<Stripe.Checkout.SessionCreateParams>), { code });
    }
  });
});
