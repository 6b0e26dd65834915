import assert from 'node:assert/strict';
import { refusalStatus, type RefusalCode } from '../../../domain/refusal.js';
import { operations } from '../../../api/http/openapi/document.js';
import { createMockRouter, startMock, type MockServer } from '../../../lab/mock/server.js';
import { mockFamilies } from '../../../lab/mock/listings.js';
import { ApiClient } from '../../support/http/api.js';
import { describedOperations } from '../../support/http/described.js';
import { until } from '../../support/until.js';

describe('the mock backend', () => {
  let mock: MockServer;
  let client: ApiClient;

  before(async () => {
    mock = await startMock({
      ...{ port: 0, allowedOrigins: ['http://localhost:5173'] },
      durations: { provisionMs: 50, endMs: 50, cardMs: 20 },
    });
    client = await signIn(mock, 'ann@example.com');
  });
  after(() => mock.stop());

  async function openPage(amountCents = 2_000): Promise<string> {
    return (await client.post('/v1/billing/checkout', { amountCents })).body.checkoutUrl;
  }
  const available = async () => (await client.get('/v1/billing/balance')).body.availableCents;

  describe('the five behaviours of the specification', () => {
    it('a code is asked for by anybody, at any time, and the answer is 200', async () => {
      const stranger = new ApiClient(mock.url);
      for (let time = 0; time < 10; time += 1) {
        const { status, body } = await stranger.post('/v1/auth/request-code', { email: 'bob@example.com' });
        assert.deepEqual([status, body], [200, { ok: true }]);
      }
    });

    it('any six digits sign in', async () => {
      for (const code of ['000000', '123456', '999999']) {
        const stranger = new ApiClient(mock.url);
        const { status, body } = await stranger.post('/v1/auth/verify-code', {
          email: 'Bob@Example.com',
          code,
        });
        assert.deepEqual(
          [status, body.user.email, body.created],
          [200, 'bob@example.com', code === '000000'],
        );
        assert.equal((await stranger.get('/v1/auth/me')).status, 200);
      }
    });

    it('a checkout’s fake page leads to success, and credits the wallet', async () => {
      const before = await available();
      const page = await fetch(await openPage(2_000));
      assert.deepEqual([page.status, page.url], [200, `${mock.url}/app/billing?session=success`]);
      assert.match(await page.text(), /Paid/);
      assert.equal((await available()) - before, 2_000);
    });

    it('a rental runs after the time that it takes', async () => {
      await fetch(await openPage(10_000));
      const { body } = await client.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 });
      assert.deepEqual([body.status, body.host], ['provisioning', null]);
      const running = await until('the rental runs', async () => {
        const rental = (await client.get(`/v1/rentals/${body.id}`)).body;
        return rental.status === 'running' && rental;
      });
      assert.notEqual(running.host, null);
      const tookMs = Date.parse(running.runningAt) - Date.parse(running.startedAt);
      assert.ok(tookMs >= 40 && tookMs < 5_000, `${tookMs} ms`);
    });

    it('the listings cover six GPU families', async () => {
      const { listings } = (await client.get('/v1/catalog/listings?pageSize=200')).body;
      assert.equal(mockFamilies.length, 6);
      assert.deepEqual(new Set(listings.map(({ family }) => family)), new Set(mockFamilies));
    });
  });

  describe('every operation of the description', () => {
    for (const [route, { parameters }] of describedOperations()) {
      it(`${route} is served`, async () => {
        const [method = '', template = ''] = route.split(' ');
        const path = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
          return parameters.find((parameter) => parameter.name === name)?.example ?? name;
        });
        // The client checks each answer against the description.
        const signedIn = await signIn(mock, `${Buffer.from(route).toString('hex')}@example.com`.slice(-60));
        const { body } = await signedIn.send(method.toUpperCase(), path, undefined, {});
        const isUnrouted = /^(There is nothing at|\w+ is not supported at)/.test(body.message);
        assert.ok(!isUnrouted && body.error !== 'internal_error', body.message);
      });
    }
  });

  it('has the described routes, and beside them only pages of its own', () => {
    const { stack } = createMockRouter(mock.world, undefined);
    const routes = stack.flatMap(({ methods, path }) =>
      methods.filter((method) => method !== 'HEAD').map((method) => `${method} ${String(path)}`),
    );
    assert.deepEqual(
      routes.filter((route) => !route.includes(' /mock/')).sort(),
      operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort(),
    );
  });

  describe('failures on demand', () => {
    const laterAgain = ['proof_not_ready', 'export_running'];
    for (const [code, status] of Object.entries(refusalStatus)) {
      it(`${code} is answered with ${status}, and the example of the description`, async () => {
        const response = await fetch(`${mock.url}/v1/rentals`, { headers: { 'X-Mock-Failure': code } });
        const body = (await response.json()) as Record<string, unknown>;
        assert.deepEqual([response.status, body['error']], [status, code]);
        assert.deepEqual(
          [typeof body['message'], body['requestId']],
          ['string', response.headers.get('x-request-id')],
        );
        assert.equal(response.headers.has('Retry-After'), status === 429 || laterAgain.includes(code));
      });
    }

    it('name all codes when one is unknown', async () => {
      const { status, body } = await client.get('/v1/rentals', { 'X-Mock-Failure': 'bad_luck' });
      assert.deepEqual([status, body.error], [400, 'validation_failed']);
      const codes = Object.keys(refusalStatus) as RefusalCode[];
      assert.ok(codes.every((code) => body.message.includes(code)));
    });

    it('may be asked for by pages of allowed origins', async () => {
      const preflight = await fetch(`${mock.url}/v1/rentals`, {
        method: 'OPTIONS',
        headers: { Origin: 'http://localhost:5173', 'Access-Control-Request-Method': 'POST' },
      });
      assert.match(preflight.headers.get('Access-Control-Allow-Headers') ?? '', /X-Mock-Failure/);
      assert.equal(preflight.headers.get('Access-Control-Allow-Origin'), 'http://localhost:5173');
    });

    it('show a machine that fails, and say which fates there are', async () => {
      const order = { familyId: 'rtx-5090', gpuCount: 1 };
      const { body } = await client.post('/v1/rentals', order, { 'X-Mock-Rental': 'fails' });
      const failed = await until('the rental fails', async () => {
        const rental = (await client.get(`/v1/rentals/${body.id}`)).body;
        return rental.status === 'failed' && rental;
      });
      assert.equal(failed.totalChargedCents, 0);
      const { body: ledger } = await client.get(`/v1/billing/ledger?rentalId=${body.id}`);
      assert.deepEqual(
        ledger.entries.map(({ type }) => type),
        ['refund', 'rental_charge'],
      );
      const unknown = await client.post('/v1/rentals', order, { 'X-Mock-Rental': 'explodes' });
      assert.deepEqual([unknown.status, unknown.body.details.fields[0]?.field], [400, 'X-Mock-Rental']);
    });
  });

  describe('the fake pages', () => {
    it('can be cancelled and declined, and then still be paid', async () => {
      const before = await available();
      const url = await openPage(700);
      const cancelled = await fetch(`${url}?outcome=cancel`);
      assert.equal(cancelled.url, `${mock.url}/app/billing?session=cancel`);
      assert.equal((await fetch(`${url}?outcome=decline`)).status, 402);
      assert.equal(await available(), before);
      await fetch(url);
      assert.equal((await available()) - before, 700);
      assert.equal((await fetch(`${mock.url}/mock/checkout/cs_mock_1`)).status, 404);
    });

    it('save the card of a payer who says so; it may be one that is declined', async () => {
      const payer = await signIn(mock, 'payer@example.com');
      const { body } = await payer.post('/v1/billing/checkout', { amountCents: 500 });
      await fetch(`${body.checkoutUrl}?saveCard=true`);
      const charged = await payer.post('/v1/billing/checkout', { amountCents: 600 });
      assert.deepEqual([charged.body.status, charged.body.checkoutUrl], ['succeeded', null]);
      await payer.post('/v1/billing/setup-intent', undefined, { 'X-Mock-Card': 'declines' });
      const declined = await until('the next charge is declined', async () => {
        const answer = await payer.post('/v1/billing/checkout', { amountCents: 100 });
        return answer.status === 402 && answer;
      });
      assert.equal(declined.body.error, 'card_declined');
      const failed = await payer.get(`/v1/billing/topups/${declined.body.details.topupId}`);
      assert.deepEqual([failed.body.status, failed.body.declineCode], ['failed', 'generic_decline']);
    });
  });

  it('takes as long for each answer as it is told', async () => {
    const slow = await startMock({ port: 0, latencyMs: 120 });
    try {
      const startMs = performance.now();
      await (await fetch(`${slow.url}/healthz`)).text();
      assert.ok(performance.now() - startMs >= 118);
    } finally {
      await slow.stop();
    }
  });
});

async function signIn(mock: MockServer, email: string): Promise<ApiClient> {
  const client = new ApiClient(mock.url);
  const { status, body } = await client.post('/v1/auth/verify-code', { email, code: '123456' });
  assert.equal(status, 200, JSON.stringify(body));
  return client;
}
