import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { ApiKeyScope } from '../../../domain/accounts/api-keys.js';
import type { ApiKeyId } from '../../../domain/ids.js';
import { startApi, type ApiClient, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertApiKeyOf, insertRental } from '../../support/money/factories.js';

describe('a request with an API key', () => {
  let api: TestApi;
  let owner: SignedIn;

  before(async () => {
    // Behind a proxy, so that a test can come from any address.
    api = await startApi({ settings: { trustProxy: true } });
  });
  beforeEach(async () => {
    owner = await api.signIn();
  });
  after(() => api.stop());

  async function keyWith(
    key: Parameters<typeof insertApiKeyOf>[2] = {},
  ): Promise<{ client: ApiClient; id: ApiKeyId; token: string }> {
    const { row, token } = await insertApiKeyOf(api.db, owner.user.id, key);
    return { client: api.withKey(token), id: row.id, token };
  }

  /** The statements about sessions and keys that the API sends meanwhile. */
  async function lookUpsIn(work: () => Promise<unknown>): Promise<string[]> {
    const sent: string[] = [];
    const listen = ({ sql }: { sql: string }): void => {
      if (/\b(api_keys|sessions)\b/.test(sql)) sent.push(sql);
    };
    api.deps.db.on('query', listen);
    await work();
    api.deps.db.off('query', listen);
    return sent;
  }

  it('reads in its owner’s name', async () => {
    const { client } = await keyWith();
    const { status, body } = await client.get('/v1/auth/me');
    assert.deepEqual([status, (body as { user: { id: string } }).user.id], [200, owner.user.id]);
  });

  it('is looked up by one statement, as a session is; its use is written once a minute', async () => {
    const { client, id } = await keyWith();
    const used = () => api.db('api_keys').where({ id }).first('last_used_at', 'last_used_address');
    const first = await lookUpsIn(() => client.get('/v1/ssh-keys', { 'X-Forwarded-For': '192.0.2.7' }));
    assert.equal(first.length, 2, 'the look-up, and the use');
    const before = await used();
    assert.equal(before?.last_used_address, '192.0.2.7');
    const second = await lookUpsIn(() => client.get('/v1/ssh-keys', { 'X-Forwarded-For': '192.0.2.8' }));
    assert.equal(second.length, 1);
    assert.equal((await lookUpsIn(() => owner.get('/v1/ssh-keys'))).length, 1);
    assert.deepEqual(await used(), before);
    await api
      .db('api_keys')
      .where({ id })
      .update({ last_used_at: api.db.raw(`clock_ms() - interval '61 s'`) });
    await client.get('/v1/ssh-keys', { 'X-Forwarded-For': '192.0.2.8' });
    assert.equal((await used())?.last_used_address, '192.0.2.8');
  });

  it('waits for nobody who holds the row of its key', async () => {
    const { client, id } = await keyWith();
    await api.db.transaction(async (trx) => {
      await trx('api_keys').where({ id }).forShare().first();
      assert.equal((await client.get('/v1/auth/me')).status, 200);
    });
  });

  it('is refused without a look into the database where the text can’t be a key', async () => {
    const { token } = await keyWith();
    const mistyped = token.slice(0, -1) + (token.endsWith('x') ? 'y' : 'x');
    for (const text of [mistyped, token.slice(0, -1), `${token}0`, 'sk_live_other', '']) {
      const sent = await lookUpsIn(async () => {
        const { status, body } = await api.withKey(text).get('/v1/rentals');
        assert.deepEqual([status, body.error], [401, 'key_unknown'], text);
      });
      assert.deepEqual(sent, [], text);
    }
  });

  const dead = [
    ['revoked', 'key_revoked', { revoked_at: `clock_ms()` }],
    ['expired', 'key_expired', { created_at: `clock_ms() - interval '2 d'`, expires_at: 'clock_ms()' }],
    ['suspended', 'key_suspended', { suspended_at: 'clock_ms()' }],
  ] as const;
  for (const [what, code, columns] of dead) {
    it(`is refused with ${code} when its key is ${what}`, async () => {
      const { client, id } = await keyWith();
      const update = Object.entries(columns).map(([name, sql]) => [name, api.db.raw(sql)] as const);
      await api.db('api_keys').where({ id }).update(Object.fromEntries(update));
      const { status, body } = await client.get('/v1/rentals');
      assert.deepEqual([status, body.error], [401, code]);
      const row = await api.db('api_keys').where({ id }).first('last_used_at');
      assert.equal(row?.last_used_at, null, 'that is no use of it');
    });
  }

  it('is refused with key_unknown when there is none such, and on no route that needs nobody', async () => {
    const { client, id } = await keyWith();
    await api.db('api_keys').where({ id }).delete();
    assert.equal((await client.get('/v1/rentals')).body.error, 'key_unknown');
    assert.equal((await client.get('/v1/auth/providers')).status, 200);
    assert.equal((await client.get('/v1/nothing')).body.error, 'not_found');
  });

  it('needs the scope of the route, and names it', async () => {
    const { client } = await keyWith({ scopes: ['rentals', 'billing'] });
    const { status, body } = await client.get('/v1/rentals');
    assert.deepEqual([status, body.error], [403, 'key_scope']);
    assert.deepEqual(body.details, { scope: 'read', scopes: ['rentals', 'billing'] });
    assert.equal((await client.get('/v1/billing/balance')).status, 200);
  });

  it('never makes, changes or removes what is its owner’s alone', async () => {
    const { client } = await keyWith({ scopes: ['read', 'rentals', 'billing'] });
    const toSetUp = [
      client.post('/v1/ssh-keys', { name: 'x', generate: true }),
      client.delete(`/v1/ssh-keys/${newId('key')}`),
      client.post('/v1/webhooks', { url: 'https://example.com/' }),
    ];
    for (const { status, body } of await Promise.all(toSetUp)) {
      assert.deepEqual([status, body.error], [403, 'key_scope']);
    }
    const asked = [
      client.post('/v1/billing/setup-intent'),
      client.delete('/v1/billing/card'),
      client.put('/v1/billing/auto-topup', { enabled: false }),
      client.put('/v1/notices', {}),
      client.post('/v1/auth/logout'),
    ];
    for (const { status, body } of await Promise.all(asked)) {
      assert.deepEqual([status, body.error], [403, 'session_required']);
    }
  });

  it('counts instead of the session whose cookie comes along, and takes no cookie', async () => {
    const { token } = await keyWith({ scopes: ['billing'] });
    const both = await owner.get('/v1/rentals', { Authorization: `Bearer ${token}` });
    assert.equal(both.body.error, 'key_scope');
    assert.deepEqual(both.headers.getSetCookie(), []);
    const other = await owner.get('/v1/rentals', { Authorization: 'Basic dXNlcjpwYXNz' });
    assert.equal(other.status, 200, 'another scheme says nothing of us');
  });

  it('names its key in the log, and never the key itself', async () => {
    const { client, id, token } = await keyWith();
    api.logged.length = 0;
    await client.get('/v1/rentals');
    await api.withKey(`${token}0`).get('/v1/rentals');
    const lines = JSON.stringify(api.logged);
    assert.ok(lines.includes(id), lines);
    assert.ok(!lines.includes(token.slice('gpur_'.length, 25)), lines);
  });

  it('finds what its owner has, and nothing of others', async () => {
    const { client } = await keyWith({ scopes: ['read'] satisfies ApiKeyScope[] });
    await api.db('providers').insert({ code: 'lab' }).onConflict().ignore();
    const other = await api.signIn();
    const [own, others] = [
      await insertRental(api.db, owner.user.id),
      await insertRental(api.db, other.user.id),
    ];
    assert.equal((await client.get(`/v1/rentals/${own.id}`)).status, 200);
    assert.equal((await client.get(`/v1/rentals/${others.id}`)).body.error, 'rental_not_found');
  });

  describe('that may come from some addresses alone', () => {
    const from = async (cidrs: string[], address: string): Promise<number> => {
      const { client } = await keyWith({ allowedCidrs: cidrs });
      const { status, body } = await client.get('/v1/rentals', { 'X-Forwarded-For': address });
      if (status !== 200) assert.equal(body.error, 'key_address');
      return status;
    };
    const cases: readonly (readonly [cidrs: string[], address: string, status: number])[] = [
      [['192.0.2.0/24'], '192.0.2.255', 200],
      [['192.0.2.0/24'], '192.0.3.0', 403],
      [['192.0.2.7/32', '2001:db8::/48'], '2001:db8:0:ffff::1', 200],
      [['2001:db8::/48'], '2001:db8:1::1', 403],
      [['192.0.2.0/24'], '::ffff:192.0.2.9', 200],
      [['192.0.2.0/24'], '::ffff:c000:0209', 200],
      [['192.0.2.0/24'], '0:0:0:0:0:FFFF:C000:0209', 200],
      [['192.0.2.0/24'], '::ffff:192.0.3.9', 403],
      [['0.0.0.0/0'], '2001:db8::1', 403],
      [['::/0'], '192.0.2.1', 403],
      [['fe80::/10'], 'fe80::1%eth0', 200],
      [['0.0.0.0/0', '::/0'], 'not an address', 403],
    ];
    for (const [cidrs, address, status] of cases) {
      it(`${cidrs.join(', ')} answers ${address} with ${status}`, async () => {
        assert.equal(await from(cidrs, address), status);
      });
    }

    it('tells the address, and counts as no use', async () => {
      const { client, id } = await keyWith({ allowedCidrs: ['192.0.2.0/24'] });
      const { status, body } = await client.get('/v1/rentals', { 'X-Forwarded-For': '203.0.113.9' });
      assert.deepEqual([status, body.details], [403, { address: '203.0.113.9' }]);
      assert.equal((await api.db('api_keys').where({ id }).first('last_used_at'))?.last_used_at, null);
    });
  });
});
