import assert from 'node:assert/strict';
import { openToCapped } from '../../../api/spending/capped.js';
import { apiKeyScopes } from '../../../domain/accounts/api-keys.js';
import type { Answer } from '../../support/http/answers.js';
import { ApiClient, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { describedOperations } from '../../support/http/described.js';
import {
  insertApiKeyOf,
  insertKey,
  insertRental,
  insertSessionOf,
  insertTopup,
} from '../../support/money/factories.js';

/** What a session must show anew who it is for, with a body that is right but for that. */
const needsFresh: Readonly<Record<string, object>> = {
  'GET /v1/account/export': {},
  'POST /v1/api-keys': { name: 'x', scopes: ['read'] },
  'POST /v1/auth/passkeys/begin': {},
  'POST /v1/auth/passkeys': {
    name: 'x',
    credential: {
      ...{ id: 'AA', rawId: 'AA', type: 'public-key' },
      response: { clientDataJSON: 'e30', attestationObject: 'AA' },
    },
  },
  'POST /v1/ssh-keys': { name: 'x', generate: true },
  'POST /v1/webhooks': { url: 'http://127.0.0.1:9/x' },
  'PATCH /v1/webhooks/{id}': { types: ['session.started'] },
  'POST /v1/webhooks/{id}/rotate-secret': {},
  'PUT /v1/billing/budget': { monthlyCents: null },
};

/** The refusals by which a caller is kept out of a route. */
const keptOut = ['session_required', 'key_scope', 'fresh_sign_in_required', 'unauthorized'] as const;

/** Each route of the description, asked by each kind of caller (decision 109, "Caps and budgets"). */
describe('who sees what at every route', () => {
  let api: TestApi;
  let user: SignedIn;
  let stale: ApiClient;
  let capped: ApiClient;
  const withScope = new Map<string, ApiClient>();
  /** Ids of what a session made, by the nouns of paths; no key with a cap may see them. */
  const ids: Record<string, string> = {};

  const routes = [...describedOperations()].flatMap(([route, operation]) => {
    const [method = '', path = ''] = route.split(' ');
    const security = operation.security.flatMap((way) => Object.entries(way));
    const scope = security.find(([name]) => name === 'key')?.[1][0];
    if (security.length === 0 || path.endsWith('/stream')) return [];
    return [{ route: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, scope }];
  });

  before(async () => {
    api = await startApi();
    user = await api.signIn();
    await user.put('/v1/billing/budget', { monthlyCents: 100_000, hard: true });
    const { db } = api;
    const { id: userId } = user.user;
    const keyOf = async (scopes: readonly (typeof apiKeyScopes)[number][], spendCapCents: number | null) =>
      api.withKey((await insertApiKeyOf(db, userId, { scopes: [...scopes], spendCapCents })).token);
    for (const scope of apiKeyScopes) withScope.set(scope, await keyOf([scope], null));
    capped = await keyOf(apiKeyScopes, 10_000);
    stale = new ApiClient(api.url, await insertSessionOf(db, userId));
    ids['rentals'] = (await insertRental(db, userId)).id;
    ids['topups'] = (await insertTopup(db, userId)).id;
    ids['ssh-keys'] = (await insertKey(db, userId)).id;
    const hook = { url: 'http://127.0.0.1:9/x', types: ['rental.running'] };
    ids['webhooks'] = ((await user.post('/v1/webhooks', hook)).body as { id: string }).id;
    await db('sessions')
      .where({ user_id: userId })
      .whereNot({
        token_hash: (await db('sessions').where({ user_id: userId }).orderBy('created_at').first())!
          .token_hash,
      })
      .update({ proved_at: new Date('2026-01-01') });
  });
  after(() => api.stop());

  function ask(client: ApiClient, { route, method, path }: (typeof routes)[number]): Promise<Answer> {
    const noun = Object.keys(ids).find((name) => path.includes(`/${name}/`)) ?? '';
    const filled = path.replace(/\{\w+\}/, ids[noun] ?? 'none');
    const body = method === 'GET' || method === 'DELETE' ? undefined : (needsFresh[route] ?? {});
    const query = path.endsWith('/statement') ? '?from=2026-11-01&to=2026-11-02' : '';
    // What would end the test's own session, or spend what it looks at, is asked for by nobody.
    return client.json(method, filled + query, body);
  }

  const keptOutBy = (answer: Answer): string | undefined =>
    keptOut.find((code) => answer.status >= 400 && (answer.body as { error?: string }).error === code);

  const isHarmless = ({ route }: { readonly route: string }): boolean =>
    !/^DELETE|logout|end-others|refresh-proof/.test(route);

  for (const each of routes) {
    const { route, scope } = each;
    const closed = scope === undefined ? 'session_required' : 'key_scope';

    it(`${route} by a key of each scope`, async () => {
      for (const [own, client] of withScope) {
        assert.equal(keptOutBy(await ask(client, each)), own === scope ? undefined : closed, own);
      }
    });

    it(`${route} by a key with a cap`, async () => {
      const answer = await ask(capped, each);
      const pattern = route.replaceAll(/\{(\w+)\}/g, ':$1');
      const isWhole = /\/(ledger|topups)$/.test(route);
      const expected = openToCapped.has(pattern) && !isWhole ? undefined : 'session_required';
      assert.equal(keptOutBy(answer), expected);
      const text = JSON.stringify(answer.body);
      for (const id of Object.values(ids)) assert.ok(!text.includes(id), `it tells of ${id}: ${text}`);
    });

    if (isHarmless(each)) {
      it(`${route} by a session that is not fresh`, async () => {
        const expected = needsFresh[route] === undefined ? undefined : 'fresh_sign_in_required';
        assert.equal(keptOutBy(await ask(stale, each)), expected);
      });
    }
  }

  it('shows a key with a cap the payments that it began', async () => {
    const { row, token } = await insertApiKeyOf(api.db, user.user.id, {
      scopes: ['billing'],
      spendCapCents: 1_000,
    });
    const own = await insertTopup(api.db, user.user.id);
    await api.db('topup_requests').insert({
      id: own.id,
      user_id: user.user.id,
      amount_cents: 500,
      api_key_id: row.id,
      answer_before: new Date(),
    });
    const client = api.withKey(token);
    assert.equal((await client.get(`/v1/billing/topups/${own.id}`)).status, 200);
    assert.equal((await client.get(`/v1/billing/topups/${ids['topups']}`)).status, 404);
  });
});
