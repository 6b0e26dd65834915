import assert from 'node:assert/strict';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertApiKeyOf, insertRunningRental } from '../../support/money/factories.js';

/** A request's statements, by the names under which they are prepared. */
type Statements = string[];

describe('what is read with the look-up of a caller (decision 121)', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await api.signIn();
  });

  /** Does a request, and tells which statements it took. */
  async function statementsOf(request: () => Promise<{ status: number }>, status = 200): Promise<Statements> {
    const sent: Statements = [];
    const listen = ({ options, sql }: { options?: { name?: string }; sql: string }) =>
      sent.push(options?.name?.replace(/_\w{8}_\d+$/, '') ?? sql);
    api.deps.db.on('query', listen);
    try {
      assert.equal((await request()).status, status);
    } finally {
      api.deps.db.removeListener('query', listen);
    }
    return sent;
  }

  /** The second request of a caller: the first one has shown whose it is, and has taken its share of requests. */
  async function again(request: () => Promise<{ status: number }>, status = 200): Promise<Statements> {
    await request();
    return statementsOf(request, status);
  }

  it('answers the balance, a page of the ledger and a rental without another statement', async () => {
    const rental = await insertRunningRental(api.db, user.user.id, 60_000);
    const { token } = await insertApiKeyOf(api.db, user.user.id, { scopes: ['read', 'billing'] });
    for (const [client, lookUp] of [
      [user, 'live_session'],
      [api.withKey(token), 'key_of_token'],
    ] as const) {
      assert.deepEqual(await again(() => client.get('/v1/billing/balance')), [lookUp, 'balance_of_user']);
      assert.deepEqual(await again(() => client.get('/v1/billing/ledger')), [lookUp, 'newest_entries_51']);
      const path = `/v1/rentals/${rental.id}`;
      assert.deepEqual(await again(() => client.get(path)), [lookUp, 'rental_of_user']);
    }
  });

  it('is nothing for all other requests', async () => {
    for (const path of ['/v1/rentals', '/v1/billing/ledger?pageSize=10', '/v1/billing/config']) {
      const [lookUp, ...others] = await again(() => user.get(path));
      assert.equal(lookUp, 'live_session');
      assert.ok(!others.includes('newest_entries_51'), path);
    }
  });

  it('never answers a session that has ended, nor for one', async () => {
    await user.get('/v1/billing/balance');
    const sid = user.sid!;
    assert.equal((await user.post('/v1/auth/logout')).status, 200);
    user.sid = sid;
    const answer = await user.get('/v1/billing/balance');
    assert.equal(answer.status, 401);
    // The second time nothing is read ahead for it.
    assert.deepEqual(await statementsOf(() => user.get('/v1/billing/balance'), 401), ['live_session']);
  });

  it('never answers by what a key might do before', async () => {
    const { row, token } = await insertApiKeyOf(api.db, user.user.id);
    const rental = await insertRunningRental(api.db, user.user.id, 60_000);
    const client = api.withKey(token);
    const path = `/v1/rentals/${rental.id}`;
    assert.equal((await client.get(path)).status, 200);
    assert.equal((await client.get(path)).status, 200);
    await api.db('api_keys').where({ id: row.id }).update({ spend_cap_cents: 100 });
    assert.equal((await client.get(path)).status, 404, 'a key with a cap sees only what it rented itself');
    await api.db('api_keys').where({ id: row.id }).update({ revoked_at: new Date() });
    assert.equal((await client.get(path)).status, 401);
  });

  it('is not read for whoever has asked too often', async () => {
    const strict = await startApi({ databaseUrl: api.databaseUrl, settings: { readsPerMinute: 2 } });
    try {
      const client = strict.stranger();
      client.sid = user.sid!;
      const sent: unknown[] = [];
      for (const status of [200, 200, 429]) {
        assert.equal((await client.get('/v1/billing/balance')).status, status);
      }
      const listen = (query: unknown) => sent.push(query);
      strict.deps.db.on('query', listen);
      assert.equal((await client.get('/v1/billing/balance')).status, 429);
      assert.equal(sent.length, 1, 'a refused request costs the look-up of its caller alone');
    } finally {
      await strict.stop();
    }
  });
});
