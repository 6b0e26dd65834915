import assert from 'node:assert/strict';
import { GpuRental, isApiError } from '@gpu-rental/client';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { BrowserFetch } from './support/browser-fetch.js';

const origin = 'https://dashboard.example.com';

describe('the typed client on a page', () => {
  let mock: MockServer;

  before(async () => {
    mock = await startMock({ port: 0, allowedOrigins: [origin], durations: { provisionMs: 50 } });
  });
  after(() => mock.stop());
  // By this a client sees that it is on a page.
  before(() => void Object.assign(globalThis, { document: {} }));
  after(() => void Reflect.deleteProperty(globalThis, 'document'));

  it('goes by the cookies that the browser keeps, and shows none of them', async () => {
    const browser = new BrowserFetch(origin);
    const gpu = new GpuRental({ baseUrl: mock.url, fetch: browser.fetch, userAgent: 'not for pages' });
    await gpu.auth.requestCode({ email: 'bea@example.com' });
    const { user } = await gpu.auth.verifyCode({ email: 'bea@example.com', code: '123456' });
    assert.equal(gpu.session, undefined);
    const another = new GpuRental({ baseUrl: mock.url, fetch: browser.fetch });
    assert.deepEqual((await another.auth.me()).user, user);
    await gpu.auth.logout();
    await assert.rejects(another.auth.me(), (error) => isApiError(error, 'unauthorized'));
  });

  it('sends only headers that the service lets pages send, and reads those that it shows', async () => {
    const browser = new BrowserFetch(origin);
    const gpu = new GpuRental({ baseUrl: mock.url, fetch: browser.fetch, retries: 0 });
    await gpu.auth.requestCode({ email: 'cid@example.com' });
    await gpu.auth.verifyCode({ email: 'cid@example.com', code: '123456' });
    const { topupId } = await gpu.checkout.create({ amountCents: 5_000 }, { idempotencyKey: 'pay' });
    assert.equal((await gpu.topups.get(topupId)).amountCents, 5_000);
    await gpu.notices.save({ kinds: { rental_lost: false } });
    for await (const item of gpu.events.stream({ after: 0 })) if (item.kind === 'event') break;
    assert.ok(browser.preflights >= 4);
    const limited = new GpuRental({
      baseUrl: mock.url,
      retries: 0,
      fetch: (request) => {
        request.headers.set('X-Mock-Failure', 'rate_limited');
        return browser.fetch(request);
      },
    });
    const error: unknown = await limited.auth.me().catch((thrown: unknown) => thrown);
    assert.ok(isApiError(error, 'rate_limited') && error.retryAfterSeconds !== undefined, String(error));
  });

  it('fails as any page’s request does where its origin is not allowed', async () => {
    const { fetch } = new BrowserFetch('https://elsewhere.example.com');
    const gpu = new GpuRental({ baseUrl: mock.url, fetch, retries: 0 });
    await assert.rejects(gpu.catalog.families(), /No answer from .*: the origin is not allowed/);
  });
});
