import assert from 'node:assert/strict';
import Stripe from 'stripe';
import { publishableKey, secretKey, startWorkbench, type Workbench } from './workbench.js';

interface ErrorAnswer {
  error: { type: string; code?: string; message: string; param?: string };
}

describe('the lab processor’s API', () => {
  let bench: Workbench;
  before(async () => {
    bench = await startWorkbench();
  });
  after(() => bench.stop());

  async function post(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Headers; body: ErrorAnswer & Record<string, unknown> }> {
    const response = await fetch(`${bench.lab.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}`, ...headers },
      body: new URLSearchParams(fields),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as ErrorAnswer & Record<string, unknown>,
    };
  }

  describe('failures', () => {
    it('answer with an error object, also for unknown paths and methods', async () => {
      for (const [method, path] of [
        ['GET', '/v1/unknown'],
        ['PUT', '/v1/customers'],
        ['GET', '/elsewhere'],
        ['GET', '/v1/customers/cus_none'],
      ] as const) {
        const response = await fetch(bench.lab.url + path, {
          method,
          headers: { authorization: `Bearer ${secretKey}` },
        });
        assert.equal(response.status, 404, path);
        const { error } = (await response.json()) as ErrorAnswer;
        assert.equal(error.type, 'invalid_request_error');
        assert.ok(error.message.length > 0);
      }
    });

    it('refuse a missing and a wrong key with 401, and a publishable key with 403', async () => {
      const statuses = await Promise.all(
        [
          { authorization: '' },
          { authorization: 'Bearer sk_test_x' },
          { authorization: `Bearer ${publishableKey}` },
        ].map(async (headers) => (await post('/v1/customers', {}, headers)).status),
      );
      assert.deepEqual(statuses, [401, 401, 403]);
    });

    it('name an unknown parameter, top-level or nested, and do nothing', async () => {
      const { customers } = await bench.state();
      const top = await post('/v1/customers', { emial: 'a@example.com' });
      assert.equal(top.status, 400);
      assert.equal(top.body.error.code, 'parameter_unknown');
      assert.equal(top.body.error.param, 'emial');
      const nested = await post('/v1/customers', { 'invoice_settings[colour]': 'red' });
      assert.equal(nested.body.error.code, 'parameter_unknown');
      assert.deepEqual((await bench.state()).customers, customers);
    });

    it('refuse a body that is not a form, or too large', async () => {
      const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' };
      const json = await fetch(`${bench.lab.url}/v1/customers`, { method: 'POST', headers, body: '{}' });
      assert.equal(json.status, 400);
      assert.equal(((await json.json()) as ErrorAnswer).error.type, 'invalid_request_error');
      const large = await post('/v1/customers', { name: 'x'.repeat(1_100_000) });
      assert.equal(large.status, 413);
      assert.equal(large.body.error.type, 'invalid_request_error');
    });
  });

  describe('idempotency keys', () => {
    it('replay status and body to the byte, and say so', async () => {
      const headers = { 'idempotency-key': 'key-replay' };
      const first = await post('/v1/customers', { name: 'One' }, headers);
      const second = await post('/v1/customers', { name: 'One' }, headers);
      assert.equal(first.headers.get('idempotent-replayed'), null);
      assert.equal(second.headers.get('idempotent-replayed'), 'true');
      assert.deepEqual(second.body, first.body);
      assert.equal(first.body['livemode'], false);
    });

    it('refuse another body, and another path, under the same key', async () => {
      const headers = { 'idempotency-key': 'key-mismatch' };
      await post('/v1/customers', { name: 'One' }, headers);
      for (const other of [
        await post('/v1/customers', { name: 'Two' }, headers),
        await post('/v1/setup_intents', { name: 'One' }, headers),
      ]) {
        assert.equal(other.status, 400);
        assert.equal(other.body.error.type, 'idempotency_error');
      }
    });

    it('replay a decline too, without a second attempt', async () => {
      const fields = {
        amount: '1000',
        currency: 'usd',
        payment_method: 'pm_card_chargeDeclined',
        confirm: 'true',
        'payment_method_types[]': 'card',
      };
      const headers = { 'idempotency-key': 'key-decline' };
      const first = await post('/v1/payment_intents', fields, headers);
      const charges = (await bench.state()).charges.length;
      const second = await post('/v1/payment_intents', fields, headers);
      assert.equal(first.status, 402);
      assert.equal(second.status, 402);
      assert.deepEqual(second.body, first.body);
      assert.equal((await bench.state()).charges.length, charges);
    });

    it('keep no answer to a request that was wrong in itself', async () => {
      const headers = { 'idempotency-key': 'key-wrong' };
      assert.equal((await post('/v1/customers', { email: 'nonsense' }, headers)).status, 400);
      assert.equal((await post('/v1/customers', { email: 'right@example.com' }, headers)).status, 200);
    });

    it('keep a refusal that the state of the object caused, also when the state is another one by then', async () => {
      const intent = await post('/v1/payment_intents', { amount: '1000', currency: 'usd' });
      const path = `/v1/payment_intents/${String(intent.body['id'])}/cancel`;
      await post(path, {});
      const headers = { 'idempotency-key': 'key-state' };
      const first = await post(path, {}, headers);
      assert.equal(first.status, 400);
      const second = await post(path, {}, headers);
      assert.deepEqual([second.status, second.body], [400, first.body]);
      assert.equal(second.headers.get('idempotent-replayed'), 'true');
      const missing = { 'idempotency-key': 'key-missing' };
      for (const replayed of [null, 'true']) {
        const answer = await post('/v1/payment_intents/pi_none/cancel', {}, missing);
        assert.deepEqual([answer.status, answer.headers.get('idempotent-replayed')], [404, replayed]);
      }
    });

    it('keep a 500 that was ordered as sticky, as the processor keeps its own', async () => {
      await bench.order({ kind: 'status', status: 500, sticky: true, path: '/v1/customers' });
      const headers = { 'idempotency-key': 'key-sticky' };
      assert.equal((await post('/v1/customers', { name: 'Stuck' }, headers)).status, 500);
      const replayed = await post('/v1/customers', { name: 'Stuck' }, headers);
      assert.equal(replayed.status, 500);
      assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
    });
  });

  describe('expand', () => {
    it('goes through objects and lists, and leaves what is null', async () => {
      const customer = await bench.stripe.customers.create({ email: 'expand@example.com' });
      const intent = await bench.stripe.paymentIntents.create({
        amount: 1000,
        currency: 'usd',
        customer: customer.id,
        payment_method: 'pm_card_visa',
        payment_method_types: ['card'],
        confirm: true,
        expand: ['latest_charge.customer', 'payment_method'],
      });
      assert.ok(typeof intent.latest_charge === 'object');
      assert.deepEqual(intent.latest_charge?.customer, { ...customer });
      assert.ok(typeof intent.payment_method === 'object');
      const { data } = await bench.stripe.paymentIntents.list({
        customer: customer.id,
        expand: ['data.latest_charge.payment_intent.customer'],
      });
      assert.ok(typeof data[0]?.latest_charge === 'object');
    });

    it('refuses a fifth level and a field that is no reference, before anything is done', async () => {
      const before = (await bench.state()).payment_intents.length;
      const expand = ['latest_charge.payment_intent.latest_charge.payment_intent.customer'];
      for (const paths of [expand, ['amount']]) {
        await assert.rejects(
          bench.stripe.paymentIntents.create({
            amount: 1000,
            currency: 'usd',
            payment_method: 'pm_card_visa',
            confirm: true,
            expand: paths,
          }),
          Stripe.errors.StripeInvalidRequestError,
        );
      }
      assert.equal((await bench.state()).payment_intents.length, before);
    });
  });

  describe('lists', () => {
    it('page newest first, forwards and backwards, and filter customers by address', async () => {
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) {
        ids.unshift((await bench.stripe.customers.create({ email: 'paged@example.com' })).id);
      }
      const query = { email: 'paged@example.com', limit: 2 };
      const first = await bench.stripe.customers.list(query);
      assert.deepEqual([first.data.map(({ id }) => id), first.has_more], [ids.slice(0, 2), true]);
      const last = await bench.stripe.customers.list({ ...query, starting_after: ids[3]! });
      assert.deepEqual([last.data.map(({ id }) => id), last.has_more], [ids.slice(4), false]);
      const back = await bench.stripe.customers.list({ ...query, ending_before: ids[3]! });
      assert.deepEqual([back.data.map(({ id }) => id), back.has_more], [ids.slice(1, 3), true]);
      const all = await bench.stripe.customers.list(query).autoPagingToArray({ limit: 100 });
      assert.deepEqual(
        all.map(({ id }) => id),
        ids,
      );
    });
  });
});
