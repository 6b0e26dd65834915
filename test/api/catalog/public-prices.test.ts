import assert from 'node:assert/strict';
import { families } from '../../../domain/catalog/families.js';
import { recordOfferHour } from '../../../adapters/postgres/catalog/offer-history.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { ApiClient, startApi, type TestApi } from '../../support/http/api.js';
import { describedOperations } from '../../support/http/described.js';
import { insertApiKeyOf, insertListing, insertProvider } from '../../support/money/factories.js';

const FAMILIES = '/v1/catalog/families';
const HISTORY = '/v1/catalog/families/rtx-4090/history';

/** Every route that asks for a caller, with what stands for the parameters of its path. */
const guarded = [...describedOperations()]
  .filter(([, { security }]) => security.length > 0)
  .map(([route, { parameters }]) => {
    const [method = '', path = ''] = route.split(' ');
    const exampleOf = (name: string) => parameters.find((each) => each.name === name)?.example ?? '';
    return {
      method: method.toUpperCase(),
      path: path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => exampleOf(name)),
    };
  });

/** The routes that answer somebody who shows nothing to be known by. */
async function openRoutes(client: ApiClient): Promise<string[]> {
  const open: string[] = [];
  for (const { method, path } of guarded) {
    const { status, body } = await client.json(method, path, method === 'GET' ? undefined : {});
    if (status === 401) assert.equal(body.error, 'unauthorized', path);
    else open.push(`${method} ${path} ${status}`);
  }
  return open;
}

const both = [`GET ${FAMILIES} 200`, `GET ${HISTORY} 200`];

describe('the prices that strangers are told (PUBLIC_PRICES)', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ settings: { publicPrices: true } });
    await insertProvider(api.db, 'lab');
    await insertListing(api.db, { price_per_hour_cents: 40 });
    await recordOfferHour(api.db, 'lab');
  });
  after(() => api.stop());

  it('are the only thing of all routes that they are told, and none of it by default', async () => {
    assert.deepEqual(await openRoutes(api.stranger()), both);
    const closed = await startApi({ databaseUrl: api.databaseUrl });
    try {
      assert.deepEqual(await openRoutes(closed.stranger()), []);
    } finally {
      await closed.stop();
    }
  });

  it('are as the mock has them', async () => {
    for (const publicPrices of [true, false]) {
      const mock: MockServer = await startMock({ port: 0, publicPrices });
      try {
        assert.deepEqual(await openRoutes(new ApiClient(mock.url)), publicPrices ? both : []);
      } finally {
        await mock.stop();
      }
    }
  });

  it('are those of the families alone: no offer, no provider', async () => {
    const { body, headers } = await api.stranger().get(FAMILIES);
    assert.equal(body.families.length, families.length);
    assert.deepEqual(
      body.families.find(({ family }) => family === 'rtx-4090'),
      {
        family: 'rtx-4090',
        models: ['RTX_4090'],
        fromPricePerHourCents: 40,
        liveCount: 1,
      },
    );
    assert.match(headers.get('cache-control')!, /^public, max-age=([1-9]|[1-5]\d|60)$/);
    assert.match(headers.get('vary')!, /Cookie.*Authorization/);
    const { body: history } = await api.stranger().get(HISTORY);
    assert.doesNotMatch(JSON.stringify([body, history]), /lst_|"lab"|reliability|provider/i);
  });

  it('are read once a minute for all of them, and anew for whoever has signed in', async () => {
    // Its answer is young: an earlier test's may be a minute old by now.
    const fresh = await startApi({ databaseUrl: api.databaseUrl, settings: { publicPrices: true } });
    try {
      const { body: before } = await fresh.stranger().get(FAMILIES);
      await insertListing(api.db, { price_per_hour_cents: 30 });
      const sent: string[] = [];
      const listen = ({ sql }: { sql: string }) => sent.push(sql);
      fresh.deps.db.on('query', listen);
      const asked = Array.from({ length: 20 }, () => fresh.stranger().get(FAMILIES));
      for (const { body } of await Promise.all(asked)) assert.deepEqual(body, before);
      assert.ok(!sent.some((sql) => sql.includes('provider_families')), sent.join('\n'));
    } finally {
      await fresh.stop();
    }
    const user = await api.signIn();
    const { body: now, headers } = await user.get(FAMILIES);
    assert.match(JSON.stringify(now.families), /"RTX_4090"\],"fromPricePerHourCents":30,/);
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  it('are told in a word when nothing has changed', async () => {
    for (const path of [FAMILIES, HISTORY]) {
      const etag = (await api.stranger().get(path)).headers.get('etag')!;
      assert.match(etag, /^W\/"/);
      const again = await api.stranger().get(path, { 'If-None-Match': etag });
      assert.deepEqual([again.status, again.headers.get('etag')], [304, etag]);
      assert.equal((await api.stranger().get(path, { 'If-None-Match': '"other"' })).status, 200);
    }
  });

  it('are of everywhere, and of families that there are', async () => {
    const regional = await api.stranger().get(`${HISTORY}?region=eu`);
    assert.deepEqual([regional.status, regional.body.error], [401, 'unauthorized']);
    assert.match(regional.body.message, /region/);
    const unknown = await api.stranger().get('/v1/catalog/families/rtx-1/history');
    assert.deepEqual([unknown.status, unknown.body.error], [404, 'not_found']);
  });

  it('are not for a key that does not hold, nor for one without the scope', async () => {
    const unknown = await api.withKey('gpur_0').get(FAMILIES);
    assert.deepEqual([unknown.status, unknown.body.error], [401, 'key_unknown']);
    const { user } = await api.signIn();
    const { token } = await insertApiKeyOf(api.db, user.id, { scopes: ['rentals'] });
    const scopeless = await api.withKey(token).get(FAMILIES);
    assert.deepEqual([scopeless.status, scopeless.body.error], [403, 'key_scope']);
  });

  it('are told to a session that has ended as to any stranger, by the mock too', async () => {
    const user = await api.signIn();
    const cookie = { Cookie: `sid=${user.sid}` };
    assert.equal((await api.stranger().get(FAMILIES, cookie)).headers.get('cache-control'), 'no-store');
    assert.equal((await user.post('/v1/auth/logout')).status, 200);
    const mock = await startMock({ port: 0, publicPrices: true });
    try {
      for (const client of [api.stranger(), new ApiClient(mock.url)]) {
        const { status, headers } = await client.get(FAMILIES, cookie);
        assert.deepEqual([status, headers.get('cache-control')?.split(',')[0]], [200, 'public']);
        assert.equal((await client.get('/v1/rentals', cookie)).status, 401);
      }
    } finally {
      await mock.stop();
    }
  });

  it('are bounded by address', async () => {
    const bounded = await startApi({
      databaseUrl: api.databaseUrl,
      settings: { publicPrices: true, strangersPerMinute: 2, trustProxy: true },
    });
    try {
      const statuses: number[] = [];
      const from = { 'X-Forwarded-For': '203.0.113.7' };
      for (let nth = 0; nth < 4; nth += 1)
        statuses.push((await bounded.stranger().get(FAMILIES, from)).status);
      assert.deepEqual(statuses, [200, 200, 429, 429]);
    } finally {
      await bounded.stop();
    }
  });
});
