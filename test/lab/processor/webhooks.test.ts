import assert from 'node:assert/strict';
import Stripe from 'stripe';
import {
  startReceiver,
  startWorkbench,
  until,
  webhookSecret,
  type Received,
  type Workbench,
} from './workbench.js';

describe('the lab processor’s events', () => {
  let bench: Workbench;
  beforeEach(async () => {
    bench = await startWorkbench();
  });
  afterEach(() => bench.stop());

  const created = ({ type }: Received): boolean => type === 'customer.created';

  /** Makes a customer: no event is cheaper. */
  async function makeEvent(): Promise<string> {
    return (await bench.stripe.customers.create({ email: 'event@example.com' })).id;
  }

  async function deliveryState(): Promise<string[]> {
    return (await bench.state()).deliveries.map(({ state }) => state);
  }

  it('are sent signed, as the official SDK checks it', async () => {
    const id = await makeEvent();
    const [delivery] = await bench.receiver.waitFor(created);
    const event = Stripe.webhooks.constructEvent(
      delivery!.body,
      String(delivery!.headers['stripe-signature']),
      webhookSecret,
    );
    assert.equal((event.data.object as Stripe.Customer).id, id);
    assert.equal(event.api_version, '2026-08-26.dahlia');
    assert.equal(event.livemode, false);
    await until(
      async () => (await bench.stripe.events.retrieve(event.id)).pending_webhooks === 0,
      'the delivery',
    );
  });

  it('are sent again until they are answered with 2xx', async () => {
    bench.receiver.answers.push(500, 302, 503);
    await makeEvent();
    const deliveries = await bench.receiver.waitFor(created, 4);
    await until(async () => (await deliveryState())[0] === 'delivered', 'the delivery');
    assert.equal(new Set(deliveries.map(({ eventId }) => eventId)).size, 1);
    assert.equal((await bench.state()).deliveries[0]?.attempts, 4);
  });

  it('are given up after the last retry, and then listed as undelivered', async () => {
    bench.receiver.answers.push(500, 500, 500, 500);
    await makeEvent();
    await until(async () => (await deliveryState())[0] === 'failed', 'the last retry');
    await makeEvent();
    await until(async () => (await deliveryState())[1] === 'delivered', 'the second event');
    assert.equal(bench.receiver.received.length, 5);
    const [second, first] = (await bench.stripe.events.list()).data;
    const undelivered = await bench.stripe.events.list({ delivery_success: false });
    assert.deepEqual(
      undelivered.data.map(({ id }) => id),
      [first!.id],
    );
    const delivered = await bench.stripe.events.list({ delivery_success: true });
    assert.deepEqual(
      delivered.data.map(({ id }) => id),
      [second!.id],
    );
  });

  it('are listed by kind and by instant', async () => {
    await makeEvent();
    const { data } = await bench.stripe.events.list({ type: 'customer.created' });
    const at = data[0]!.created;
    assert.equal((await bench.stripe.events.list({ type: 'customer.updated' })).data.length, 0);
    assert.equal((await bench.stripe.events.list({ types: ['customer.created', 'x.y'] })).data.length, 1);
    assert.equal((await bench.stripe.events.list({ created: { gte: at } })).data.length, 1);
    assert.equal((await bench.stripe.events.list({ created: { gt: at } })).data.length, 0);
    assert.equal((await bench.stripe.events.list({ created: { lt: at } })).data.length, 0);
  });

  it('show the object as it was', async () => {
    const id = await makeEvent();
    await bench.stripe.customers.update(id, { email: 'later@example.com' });
    const [updated, made] = (await bench.stripe.events.list()).data;
    assert.equal((made!.data.object as Stripe.Customer).email, 'event@example.com');
    assert.deepEqual(updated!.data.previous_attributes, { email: 'event@example.com' });
  });

  it('reach endpoints that are added, each with its own secret and kinds', async () => {
    const other = await startReceiver();
    try {
      const endpoint = await bench.stripe.webhookEndpoints.create({
        url: other.url,
        enabled_events: ['customer.updated'],
      });
      const id = await makeEvent();
      await bench.stripe.customers.update(id, { name: 'New' });
      const [delivery] = await other.waitFor(() => true);
      assert.equal(delivery!.type, 'customer.updated');
      Stripe.webhooks.constructEvent(
        delivery!.body,
        String(delivery!.headers['stripe-signature']),
        endpoint.secret!,
      );
      assert.equal((await bench.stripe.webhookEndpoints.retrieve(endpoint.id)).secret, undefined);
      await bench.stripe.webhookEndpoints.del(endpoint.id);
      assert.equal((await bench.stripe.webhookEndpoints.list()).data.length, 1);
    } finally {
      await other.close();
    }
  });

  describe('under an ordered fault', () => {
    it('arrive twice', async () => {
      await bench.order({ kind: 'event_duplicate' });
      await makeEvent();
      const [first, second] = await bench.receiver.waitFor(created, 2);
      assert.equal(second!.eventId, first!.eventId);
    });

    it('never arrive, and can be listed', async () => {
      await bench.order({ kind: 'event_drop', type: 'customer.created' });
      await makeEvent();
      assert.deepEqual(await deliveryState(), ['failed']);
      assert.equal((await bench.stripe.events.list({ delivery_success: false })).data.length, 1);
      await makeEvent();
      await bench.receiver.waitFor(created, 1);
      assert.equal(bench.receiver.received.length, 1);
    });

    it('arrive late', async () => {
      await bench.order({ kind: 'event_delay', delayMs: 80 });
      const start = Date.now();
      await makeEvent();
      await bench.receiver.waitFor(created);
      assert.ok(Date.now() - start >= 75);
    });

    it('arrive after the one that follows', async () => {
      await bench.order({ kind: 'event_reorder' });
      const first = await makeEvent();
      const second = await makeEvent();
      const arrived = await bench.receiver.waitFor(created, 2);
      const ids = arrived.map(({ body }) => (JSON.parse(body.toString()) as Stripe.Event).data.object);
      assert.deepEqual(
        ids.map((object) => (object as Stripe.Customer).id),
        [second, first],
      );
    });

    it('are refused when the order is not understood', async () => {
      await assert.rejects(bench.order({ kind: 'nonsense' }), /kind/);
      await assert.rejects(bench.order({ kind: 'reset', times: 0 }), /times/);
    });
  });
});
