import assert from 'node:assert/strict';
import { loopbackOrigins } from '../../../api/http/middleware/hosts.js';
import { sessionTokensOf } from '../../../api/http/middleware/session.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertSessionOf } from '../../support/money/factories.js';
import { askRaw } from '../../support/http/raw.js';

const dead = (nth: number): string => String(nth).repeat(43);

describe('a browser that shows several sessions', () => {
  let api: TestApi;
  let user: SignedIn;
  let other: SignedIn;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await api.signIn();
    other = await api.signIn();
  });

  const ask = (cookie: string, path = '/v1/auth/me', method = 'GET') =>
    askRaw(api.url, path, { Cookie: cookie }, method);
  const emailOf = (bytes: Buffer): string =>
    (JSON.parse(bytes.toString()) as { user: { email: string } }).user.email;

  it('is signed in by the one that lives, wherever it stands among four', async () => {
    for (const place of [0, 1, 2, 3]) {
      const all = [1, 2, 3, 4].map(dead);
      all[place] = user.sid!;
      const { status, bytes } = await ask(all.map((sid) => `sid=${sid}`).join('; '));
      assert.equal(status, 200);
      assert.equal(emailOf(bytes), user.user.email);
    }
  });

  it('is signed in by one among any texts that are no sessions, in quotes and with odd spaces', async () => {
    const cookie = `sid=; SID=${other.sid}; sid=x;sid=%00 ; a=b;  sid="${user.sid}" ; sid`;
    assert.equal(emailOf((await ask(cookie)).bytes), user.user.email);
  });

  it('has no more than four looked at', async () => {
    const cookie = [1, 2, 3, 4].map((nth) => `sid=${dead(nth)}`).join('; ');
    assert.equal((await ask(`${cookie}; sid=${user.sid}`)).status, 401);
    assert.equal(sessionTokensOf(`sid=${dead(1)}; ${cookie}; sid=${dead(5)}`).length, 4);
  });

  it('is signed in where two are the same user’s', async () => {
    const second = await insertSessionOf(api.db, user.user.id);
    assert.equal(emailOf((await ask(`sid=${second}; sid=${user.sid}`)).bytes), user.user.email);
  });

  it('is nobody’s where they are of different users, and is told to forget them all', async () => {
    const { status, headers, bytes } = await ask(`sid=${other.sid}; sid=${user.sid}`);
    assert.equal(status, 401);
    assert.match(bytes.toString(), /several users/);
    const cookies = headers['set-cookie'] ?? [];
    for (const path of ['/', '/v1', '/v1/auth', '/app'])
      assert.ok(
        cookies.some((cookie) => cookie.startsWith(`sid=; Path=${path}; Max-Age=0;`)),
        `${path} is not among ${cookies.join('\n')}`,
      );
  });

  it('keeps no further cookie after it has signed out', async () => {
    const answer = await ask(`sid=${user.sid}; sid=${dead(1)}`, '/v1/auth/logout', 'POST');
    assert.equal(answer.status, 200);
    assert.ok((answer.headers['set-cookie'] ?? []).length > 1);
  });

  it('is told to forget those of whole domains as well', async () => {
    const { headers } = await askRaw(api.url, '/v1/auth/me', {
      Cookie: `sid=${other.sid}; sid=${user.sid}`,
      Host: 'gpu.app.example.com',
    });
    const domains = new Set(
      (headers['set-cookie'] ?? []).map((cookie) => /Domain=([^;]+)/.exec(cookie)?.[1]),
    );
    assert.deepEqual(domains, new Set([undefined, 'gpu.app.example.com', 'app.example.com', 'example.com']));
  });
});

describe('the names of a service on this machine', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({
      settings: {
        dashboardUrl: 'http://127.0.0.1:8080',
        allowedOrigins: [...loopbackOrigins(8080), 'http://box.lan'],
        allowedHosts: [...loopbackOrigins(8080), 'http://box.lan'].map((origin) => new URL(origin).host),
      },
    });
  });
  after(() => api.stop());

  const from = (headers: Record<string, string>, path = '/v1/auth/request-code', method = 'POST') =>
    askRaw(api.url, path, headers, method);

  for (const host of [
    '127.0.0.1:8080',
    'localhost:8080',
    'LocalHost:8080',
    'localhost.:8080',
    'box.lan',
    'box.lan:80',
  ]) {
    it(`are answered: ${host}`, async () => {
      assert.equal((await from({ Host: host }, '/healthz', 'GET')).status, 200);
    });
  }

  for (const host of [
    'evil.example',
    'localhost',
    'localhost:9300',
    // It listens on 127.0.0.1 alone.
    '[::1]:8080',
    '127.0.0.1.evil.example:8080',
    'box.lan.evil.example',
  ]) {
    it(`are not: ${host}`, async () => {
      const { status, bytes } = await from({ Host: host }, '/v1/openapi.json', 'GET');
      assert.equal(status, 421);
      assert.match(bytes.toString(), /"unknown_host".*Open 127\.0\.0\.1:8080/);
    });
  }

  it('are no matter to monitors, which ask a process by its own address', async () => {
    for (const path of ['/healthz', '/readyz'])
      assert.equal((await from({ Host: '10.0.0.7:8080' }, path, 'GET')).status, 200);
  });

  it('tell a person so in a sentence alone, which names where to go', async () => {
    const headers = { Host: 'evil.example', Accept: 'text/html,*/*' };
    const { status, headers: answered, bytes } = await from(headers, '/app', 'GET');
    assert.deepEqual([status, answered['content-type']], [421, 'text/plain; charset=utf-8']);
    assert.equal(bytes.toString(), 'This service is not available as evil.example. Open 127.0.0.1:8080.');
  });

  for (const origin of loopbackOrigins(8080)) {
    it(`may make changes: ${origin}`, async () => {
      // 400: its body is missing.
      assert.equal((await from({ Host: '127.0.0.1:8080', Origin: origin })).status, 400);
    });
  }

  for (const origin of [
    'http://localhost',
    'https://localhost:8080',
    'http://LOCALHOST:8080',
    'http://localhost.:8080',
    'null',
  ]) {
    it(`may not: ${origin}`, async () => {
      assert.equal((await from({ Host: '127.0.0.1:8080', Origin: origin })).status, 403);
    });
  }

  for (const [host, path] of [
    ['localhost:8080', '/app/billing?session=success'],
    ['127.0.0.1.:8080', '//evil.example/'],
  ] as const) {
    it(`lead a person to one of them, whose cookies they have: ${host}${path}`, async () => {
      const { status, headers } = await from({ Host: host, Accept: 'text/html,*/*' }, path, 'GET');
      assert.equal(status, 302);
      assert.equal(headers.location, `http://127.0.0.1:8080${path.replace('//', '/')}`);
    });
  }
});

describe('a service behind TLS', () => {
  it('tells whoever opens it by plain http to use https', async () => {
    const api = await startApi({ settings: { secureCookie: true, allowedOrigins: ['https://gpu.example'] } });
    try {
      const headers = { Host: 'gpu.example', Origin: 'http://gpu.example' };
      const { status, bytes } = await askRaw(api.url, '/v1/auth/request-code', headers, 'POST');
      assert.equal(status, 403);
      assert.match(bytes.toString(), /Use https: open https:\/\/gpu\.example and try again/);
    } finally {
      await api.stop();
    }
  });
});
