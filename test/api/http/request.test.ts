import assert from 'node:assert/strict';
import { request } from 'node:http';
import { once } from 'node:events';
import { operations } from '../../../api/http/openapi/document.js';
import { startApi, type ApiClient, type SignedIn, type TestApi } from '../../support/http/api.js';

describe('every request', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    api = await startApi({ settings: { allowedOrigins: ['https://app.example.com'] } });
    user = await api.signIn();
  });
  after(() => api.stop());

  describe('its id', () => {
    it('is taken from the caller when it is sane, and answered', async () => {
      const answer = await api.stranger().get('/healthz', { 'X-Request-Id': 'abc-123' });
      assert.equal(answer.headers.get('x-request-id'), 'abc-123');
    });

    it('is made anew when the caller’s could forge log lines', async () => {
      const answer = await api.stranger().get('/healthz', { 'X-Request-Id': 'a b"{}' });
      assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    });

    it('stands in every error body', async () => {
      const answer = await api.stranger().get('/v1/rentals', { 'X-Request-Id': 'trace-me' });
      assert.deepEqual(answer.body, {
        error: 'unauthorized',
        message: 'Sign in first: POST /v1/auth/request-code.',
        requestId: 'trace-me',
      });
    });
  });

  it('is logged once, without query, cookie or body', async () => {
    const id = 'log-line-test';
    await user.post('/v1/ssh-keys?secret=in-the-query', { name: 'in-the-body' }, { 'X-Request-Id': id });
    const lines = api.logged.filter((line) => line['requestId'] === id);
    assert.equal(lines.length, 1);
    assert.equal(lines[0]!['method'], 'POST');
    assert.equal(lines[0]!['path'], '/v1/ssh-keys');
    assert.equal(lines[0]!['status'], 400);
    assert.equal(lines[0]!['userId'], user.user.id);
    const text = JSON.stringify(lines);
    for (const secret of ['in-the-query', 'in-the-body', user.sid!])
      assert.ok(!text.includes(secret), secret);
  });

  describe('without a session', () => {
    const paths: [string, string][] = [
      ['GET', '/v1/auth/me'],
      ['POST', '/v1/auth/logout'],
      ['GET', '/v1/ssh-keys'],
      ['POST', '/v1/ssh-keys'],
      ['DELETE', '/v1/ssh-keys/key_1'],
      ['GET', '/v1/catalog/listings'],
      ['GET', '/v1/catalog/families'],
      ['GET', '/v1/catalog/templates'],
      ['POST', '/v1/rentals'],
      ['GET', '/v1/rentals'],
      ['GET', '/v1/rentals/rent_1'],
      ['POST', '/v1/rentals/rent_1/stop'],
      ['GET', '/v1/rentals/rent_1/meter'],
      ['GET', '/v1/billing/balance'],
      ['GET', '/v1/billing/config'],
      ['GET', '/v1/billing/ledger'],
      ['POST', '/v1/billing/checkout'],
      ['GET', '/v1/billing/topups'],
      ['GET', '/v1/billing/topups/top_1'],
    ];
    for (const [method, path] of paths) {
      it(`is refused at ${method} ${path}`, async () => {
        const missing = await api.stranger().json(method, path, undefined);
        assert.deepEqual([missing.status, missing.body.error], [401, 'unauthorized']);
        const stranger = api.stranger();
        stranger.sid = 'A'.repeat(43);
        const unknown = await stranger.json(method, path, undefined);
        assert.deepEqual([unknown.status, unknown.body.error], [401, 'unauthorized']);
      });
    }
  });

  describe('its body', () => {
    it('is refused when it is not well-formed JSON', async () => {
      const json = { 'Content-Type': 'application/json' };
      for (const body of ['{"amountCents": 100', '', '{"a":"\xff"}'].filter((text) => text !== '')) {
        const bytes = Buffer.from(body, 'latin1');
        const answer = await user.send('POST', '/v1/billing/checkout', bytes, json);
        assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed'], body);
        assert.equal(answer.body.details.fields[0]!.field, 'body');
      }
    });

    it('is refused when it is missing', async () => {
      const answer = await user.post('/v1/billing/checkout');
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
    });

    it('is refused when it is no object', async () => {
      for (const body of [[], 'text', 7, null]) {
        const answer = await user.post('/v1/billing/checkout', body);
        assert.deepEqual(
          [answer.status, answer.body.error],
          [400, 'validation_failed'],
          JSON.stringify(body),
        );
      }
    });

    it('is refused when it is of another content type', async () => {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/json; charset=utf-16',
      ]) {
        const answer = await user.send('POST', '/v1/billing/checkout', '{"amountCents":100}', {
          'Content-Type': type,
        });
        assert.deepEqual([answer.status, answer.body.error], [415, 'unsupported_media_type'], type);
      }
    });

    it('is refused when it is compressed', async () => {
      const answer = await user.send('POST', '/v1/billing/checkout', '{"amountCents":100}', {
        'Content-Type': 'application/json',
        'Content-Encoding': 'gzip',
      });
      assert.deepEqual([answer.status, answer.body.error], [415, 'unsupported_media_type']);
    });

    it('may have 16 KiB and not a byte more', async () => {
      const frame = '{"amountCents":100,"x":""}';
      const long = (bytes: number) => frame.replace('""', `"${'y'.repeat(bytes - frame.length)}"`);
      const json = { 'Content-Type': 'application/json' };
      const most = await user.send('POST', '/v1/billing/checkout', long(16 * 1024), json);
      assert.equal(most.status, 400);
      const over = await user.send('POST', '/v1/billing/checkout', long(16 * 1024 + 1), json);
      assert.deepEqual([over.status, over.body.error], [413, 'payload_too_large']);
    });

    it('may have more where its route’s declaration says so, and is left unread from strangers', async () => {
      const larger = operations.filter(({ body }) => body?.maxBytes !== undefined);
      assert.deepEqual(
        larger.map(({ name }) => name),
        ['createQuote', 'createRental'],
      );
      const stranger = api.stranger();
      for (const { method, path, body } of larger) {
        const send = (client: ApiClient, bytes: number) =>
          client.send(method.toUpperCase(), path, JSON.stringify('y'.repeat(bytes - 2)), {
            'Content-Type': 'application/json',
          });
        assert.equal((await send(user, body!.maxBytes!)).status, 400, path);
        assert.equal((await send(user, body!.maxBytes! + 1)).status, 413, path);
        assert.equal((await send(stranger, body!.maxBytes!)).status, 401, path);
      }
    });

    it('is cut off at 16 KiB when its length is not announced', async () => {
      const call = request(`${api.url}/v1/billing/checkout`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Cookie: `sid=${user.sid!}` },
      });
      // The answer comes while the body is still being sent; the connection is closed under it.
      call.on('error', () => undefined);
      const answered = once(call, 'response') as Promise<[{ statusCode: number }]>;
      for (let sent = 0; sent < 20; sent += 1) call.write(Buffer.alloc(64 * 1024, 0x20));
      const [response] = await answered;
      assert.equal(response.statusCode, 413);
      call.destroy();
    });

    it('can’t reach an object’s prototype', async () => {
      const answer = await user.send(
        'POST',
        '/v1/billing/checkout',
        '{"amountCents":100,"__proto__":{"a":1}}',
        {
          'Content-Type': 'application/json',
        },
      );
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
    });
  });

  describe('its path and method', () => {
    it('is 404 not_found where there is nothing', async () => {
      for (const path of ['/app', '/v1', '/v1/nothing', '/v1/rentals/', '/V1/rentals', '/v1/rentals/a/b/c']) {
        const answer = await user.get(path);
        assert.deepEqual([answer.status, answer.body.error], [404, 'not_found'], path);
        assert.deepEqual(answer.body.details, { reason: 'unknown_route' });
        assert.equal(
          answer.body.message,
          `There is nothing at ${path}. GET /v1/openapi.json lists every route.`,
        );
      }
    });

    it('is 404 not_found for a thing that a known route does not have, and says so', async () => {
      for (const path of ['/v1/catalog/families/abacus/history', '/v1/billing/ledger/led_1/explain']) {
        const { status, body } = await user.get(path);
        assert.deepEqual([status, body.error, body.details], [404, 'not_found', { reason: 'unknown_entry' }]);
        assert.match(body.message, /: GET \/v1\/\S+ lists/, path);
      }
    });

    it('is 405 method_not_allowed with the methods that are possible', async () => {
      const answer = await user.json('PUT', '/v1/rentals', { a: 1 });
      assert.deepEqual([answer.status, answer.body.error], [405, 'method_not_allowed']);
      assert.match(answer.body.message, /^PUT is not supported at \/v1\/rentals\. Use one of these: /);
      assert.deepEqual(
        new Set(answer.headers.get('allow')?.split(', ')),
        new Set(['GET', 'HEAD', 'POST', 'OPTIONS']),
      );
    });

    it('is 405 for methods that the service does not know', async () => {
      for (const method of ['TRACE', 'PROPFIND', 'PURGE']) {
        const call = request(`${api.url}/v1/rentals`, { method }).end();
        const [response] = (await once(call, 'response')) as [{ statusCode: number; resume(): void }];
        response.resume();
        assert.equal(response.statusCode, 405, method);
      }
    });

    it('answers HEAD as GET without a body', async () => {
      const answer = await user.json('HEAD', '/v1/rentals', undefined);
      assert.equal(answer.status, 200);
      assert.equal(answer.body, '');
    });
  });

  describe('its origin', () => {
    const own = { Origin: 'https://app.example.com' };
    const foreign = { Origin: 'https://evil.example.com' };

    it('is allowed by an exact list, with cookies', async () => {
      const answer = await user.get('/v1/rentals', own);
      assert.equal(answer.headers.get('access-control-allow-origin'), own.Origin);
      assert.equal(answer.headers.get('access-control-allow-credentials'), 'true');
      assert.match(answer.headers.get('vary') ?? '', /Origin/);
    });

    it('is answered on errors too, so that a page can read them', async () => {
      const answer = await user.get('/v1/rentals?nope=1', own);
      assert.equal(answer.status, 400);
      assert.equal(answer.headers.get('access-control-allow-origin'), own.Origin);
    });

    it('gets no permission when it is foreign, and the answer still varies by it', async () => {
      for (const origin of [
        foreign.Origin,
        'https://app.example.com.evil.com',
        'http://app.example.com',
        'null',
      ]) {
        const answer = await user.get('/v1/rentals', { Origin: origin });
        assert.equal(answer.headers.get('access-control-allow-origin'), null, origin);
        assert.match(answer.headers.get('vary') ?? '', /Origin/);
      }
    });

    it('answers a preflight', async () => {
      const headers = {
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type',
      };
      const allowed = await user.json('OPTIONS', '/v1/rentals', undefined, { ...own, ...headers });
      assert.equal(allowed.status, 204);
      assert.match(allowed.headers.get('access-control-allow-methods') ?? '', /POST/);
      assert.match(allowed.headers.get('access-control-allow-headers') ?? '', /Content-Type/i);
      const refused = await user.json('OPTIONS', '/v1/rentals', undefined, { ...foreign, ...headers });
      assert.equal(refused.headers.get('access-control-allow-origin'), null);
    });

    it('may not make changes when it is foreign, and nothing happens', async () => {
      for (const origin of [foreign.Origin, 'null']) {
        const answer = await user.post('/v1/ssh-keys', { name: 'x', generate: true }, { Origin: origin });
        assert.deepEqual([answer.status, answer.body.error], [403, 'forbidden']);
      }
      assert.deepEqual((await user.get('/v1/ssh-keys')).body, { sshKeys: [] });
      const answer = await user.post('/v1/ssh-keys', { name: 'x', generate: true }, own);
      assert.equal(answer.status, 200);
    });
  });
});
