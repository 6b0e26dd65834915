import assert from 'node:assert/strict';
import type Stripe from 'stripe';
import { cards, payPage, postForm, startWorkbench, type Workbench } from './workbench.js';

describe('the lab processor’s card form', () => {
  let bench: Workbench;
  let customer: string;
  before(async () => {
    bench = await startWorkbench();
    customer = (await bench.stripe.customers.create({ email: 'saver@example.com' })).id;
  });
  after(() => bench.stop());

  async function begin(): Promise<{ id: string; page: string }> {
    const { id, client_secret } = await bench.stripe.setupIntents.create({
      customer,
      usage: 'off_session',
      payment_method_types: ['card'],
    });
    return { id, page: `${bench.lab.url}/setup/${id}?client_secret=${client_secret}` };
  }

  async function eventsOf(id: string): Promise<string[]> {
    const { events } = await bench.state();
    return events.filter(({ data }) => (data.object as { id?: string }).id === id).map(({ type }) => type);
  }

  it('is linked from the overview and saves a card that can be charged later', async () => {
    const { id, page } = await begin();
    const overview = await (await fetch(bench.lab.url)).text();
    assert.ok(overview.includes(page.slice(bench.lab.url.length)));
    assert.match(await (await fetch(page)).text(), /<form method="post"[^]*name="cardNumber"/);
    const answer = await payPage(page, cards.good);
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /Card saved/);
    const setup = await bench.stripe.setupIntents.retrieve(id);
    assert.equal(setup.status, 'succeeded');
    const { customer: owner } = await bench.stripe.paymentMethods.retrieve(setup.payment_method as string);
    assert.equal(owner, customer);
    assert.deepEqual(await eventsOf(id), ['setup_intent.created', 'setup_intent.succeeded']);
    assert.ok(!(await (await fetch(bench.lab.url)).text()).includes(id), 'it waits no longer');
  });

  it('takes the secret as a field of the form as well', async () => {
    const { id, page } = await begin();
    const url = new URL(page);
    const secret = url.searchParams.get('client_secret')!;
    await payPage(`${url.origin}${url.pathname}`, cards.good, { client_secret: secret });
    assert.equal((await bench.stripe.setupIntents.retrieve(id)).status, 'succeeded');
  });

  it('shows and saves nothing without the secret', async () => {
    const { id } = await begin();
    for (const page of [
      `${bench.lab.url}/setup/${id}`,
      `${bench.lab.url}/setup/${id}?client_secret=guessed`,
    ]) {
      assert.equal((await fetch(page)).status, 404);
      assert.notEqual((await payPage(page, cards.good)).status, 200);
    }
    assert.equal((await bench.stripe.setupIntents.retrieve(id)).status, 'requires_payment_method');
  });

  it('says why a card was not taken, keeps that failure, and takes another', async () => {
    const { id, page } = await begin();
    const refused = await payPage(page, cards.insufficientFunds);
    assert.equal(refused.status, 402);
    assert.match(await refused.text(), /not enough funds/);
    assert.equal((await payPage(page, '4242424242424241')).status, 402);
    const failed = await bench.stripe.setupIntents.retrieve(id);
    assert.equal(failed.last_setup_error?.decline_code, 'insufficient_funds');
    assert.equal((await payPage(page, cards.good)).status, 200);
    assert.deepEqual(await eventsOf(id), [
      'setup_intent.created',
      'setup_intent.setup_failed',
      'setup_intent.succeeded',
    ]);
  });

  it('leads back to the address that it was opened with, also by way of the bank', async () => {
    const shop = 'http://127.0.0.1:8080/app/billing';
    for (const card of [cards.good, cards.authentication]) {
      const { id, page } = await begin();
      const opened = `${page}&return_url=${encodeURIComponent(shop)}`;
      const form = /<form method="post"([^>]*)>/.exec(await (await fetch(opened)).text());
      assert.equal(form?.[1], '', 'the form is posted to the address of its page');
      const paid = await payPage(opened, card);
      const answer =
        card === cards.good
          ? paid
          : await postForm(`${bench.lab.url}/c/authenticate/${id}`, { outcome: 'approve' });
      assert.equal(answer.status, 303);
      const back = new URL(answer.headers.get('location') ?? '');
      assert.equal(back.origin + back.pathname, shop);
      assert.deepEqual(
        [back.searchParams.get('setup_intent'), back.searchParams.get('redirect_status')],
        [id, 'succeeded'],
      );
    }
  });

  it('sends the payer to their bank when it asks, and saves once', async () => {
    const { id, page } = await begin();
    const answer = await payPage(page, cards.authentication);
    assert.equal(answer.headers.get('location'), `/c/authenticate/${id}`);
    await postForm(`${bench.lab.url}/c/authenticate/${id}`, { outcome: 'approve' });
    const setup: Stripe.SetupIntent = await bench.stripe.setupIntents.retrieve(id);
    assert.equal(setup.status, 'succeeded');
    const again = await payPage(page, cards.good);
    assert.equal(again.status, 409);
    const after = await bench.stripe.setupIntents.retrieve(id);
    assert.equal(after.payment_method, setup.payment_method);
  });
});
