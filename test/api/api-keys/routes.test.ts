import assert from 'node:assert/strict';
import { streamLimits } from '../../../domain/events/stream-limits.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import { DAY } from '../../../domain/durations.js';
import type { ApiKeyId } from '../../../domain/ids.js';
import type { Answer } from '../../support/http/answers.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { CodeMails } from '../accounts/code-mails.js';
import { openStream } from '../../support/http/event-stream.js';
import { insertApiKeyOf } from '../../support/money/factories.js';

interface Key {
  readonly id: ApiKeyId;
  readonly key: string;
  readonly expiresAt: string;
  readonly allowedCidrs: readonly string[] | null;
}

describe('the routes of API keys', () => {
  let api: TestApi;
  let owner: SignedIn;

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    owner = await api.signIn();
  });
  after(() => api.stop());

  const ask = { name: 'nightly', scopes: ['read'] };
  const make = (more: object = {}): Promise<Answer> => owner.post('/v1/api-keys', { ...ask, ...more });
  const made = async (more: object = {}): Promise<Key> => {
    const { status, body } = await make(more);
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as Key;
  };
  const fieldsOf = ({ body }: Answer) => body.details.fields.map(({ field }) => field);
  const stale = () =>
    api
      .db('sessions')
      .where({ user_id: owner.user.id })
      .update({ proved_at: api.db.raw(`clock_ms() - interval '16 minutes'`) });

  it('make one that holds for 90 days, tell it, and keep its hash alone', async () => {
    const beforeMs = Date.now();
    const { id, key, expiresAt } = await made();
    const afterMs = Date.now();
    const row = await api.db('api_keys').where({ id }).first();
    const madeMs = row!.expires_at.getTime() - accountLimits.apiKeyMs;
    assert.ok(
      madeMs >= beforeMs && madeMs <= afterMs,
      `made at ${madeMs}, between ${beforeMs} and ${afterMs}`,
    );
    assert.equal(expiresAt, row!.expires_at.toISOString());
    assert.equal((await api.withKey(key).get('/v1/rentals')).status, 200);
    const { rows } = await api.db.raw<{ rows: { text: string }[] }>(
      `select k::text as text from api_keys k where id = :id
       union all select to_jsonb(e)::text from event_outbox e where user_id = :user
       union all select to_jsonb(a)::text from audit_events a where user_id = :user
       union all select to_jsonb(n)::text from user_notices n where user_id = :user`,
      { id, user: owner.user.id },
    );
    assert.equal(rows.length, 1 + 2 + 1 + 1, JSON.stringify(rows));
    const secret = key.slice('gpur_'.length, -4);
    for (const { text } of rows) assert.ok(!text.includes(secret), text);
    const kinds = await api.db('user_notices').where({ user_id: owner.user.id }).select('kind');
    assert.deepEqual(kinds, [{ kind: 'api_key_created' }]);
    const { body } = await owner.get('/v1/audit?kind=api_key_created');
    assert.deepEqual((body as unknown as { events: { entityId: string }[] }).events[0]?.entityId, id);
  });

  it('tell its making and its end once each', async () => {
    const { id } = await made();
    await owner.delete(`/v1/api-keys/${id}`);
    await owner.delete(`/v1/api-keys/${id}`);
    const told = await api.db('event_outbox').where({ entity_id: id }).orderBy('no').select('type');
    assert.deepEqual(
      told.map(({ type }) => type),
      ['api_key.created', 'api_key.revoked'],
    );
    const audited = await api.db('audit_events').where({ entity_id: id }).orderBy('no').select('kind');
    assert.deepEqual(
      audited.map(({ kind }) => kind),
      ['api_key_created', 'api_key_revoked'],
    );
  });

  it('take an end within a year, that lies ahead', async () => {
    const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
    const { expiresAt } = await made({ expiresAt: at(365 * DAY) });
    assert.ok(Date.parse(expiresAt) > Date.now() + 364 * DAY);
    for (const wrong of [at(-1_000), at(367 * DAY)]) {
      const answer = await make({ expiresAt: wrong });
      assert.deepEqual([answer.status, fieldsOf(answer)], [400, ['expiresAt']], wrong);
    }
  });

  it('refuse what is no key, and name each field', async () => {
    for (const [body, fields] of [
      [{}, ['name', 'scopes']],
      [{ ...ask, name: '' }, ['name']],
      [{ ...ask, name: 'x'.repeat(65) }, ['name']],
      [{ ...ask, scopes: ['read', 'read'] }, ['scopes.1']],
      [{ ...ask, scopes: ['all'] }, ['scopes.0']],
      [{ ...ask, allowedCidrs: [] }, ['allowedCidrs']],
      [{ ...ask, allowedCidrs: ['10.0.0.0/8', '10.0.0.1/8', 'home'] }, ['allowedCidrs.1', 'allowedCidrs.2']],
      [{ ...ask, allowedCidrs: Array.from({ length: 21 }, (_, n) => `192.0.2.${n}`) }, ['allowedCidrs']],
      [{ ...ask, key: 'gpur_mine' }, ['key']],
    ] as const) {
      const answer = await owner.post('/v1/api-keys', body);
      assert.deepEqual([answer.status, fieldsOf(answer)], [400, fields], JSON.stringify(body));
    }
    assert.equal(await api.db('api_keys').where({ user_id: owner.user.id }).first(), undefined);
  });

  it('count the keys that hold, also of requests that come at once', async () => {
    const { maxApiKeys } = accountLimits;
    for (let n = 0; n < maxApiKeys - 2; n += 1) await insertApiKeyOf(api.db, owner.user.id);
    const answers = await Promise.all(Array.from({ length: 4 }, () => make()));
    const refused = answers.filter(({ status }) => status !== 200);
    assert.deepEqual(
      refused.map(({ body }) => body.error),
      ['too_many_keys', 'too_many_keys'],
    );
    const { body } = answers.find(({ status }) => status === 200)!;
    await owner.delete(`/v1/api-keys/${(body as unknown as Key).id}`);
    assert.equal((await make()).status, 200, 'a revoked one makes room');
  });

  it('ask for a fresh sign-in where a key is made or let in from elsewhere, and not to lower or revoke', async () => {
    const [open, shut] = [await made(), await made({ allowedCidrs: ['192.0.2.0/24', '2001:db8::/32'] })];
    await stale();
    const path = `/v1/api-keys/${shut.id}`;
    const wider = [null, ['192.0.2.0/23'], ['192.0.2.0/24', '198.51.100.1'], ['::/0'], ['0.0.0.0/0']];
    for (const allowedCidrs of wider) {
      const { status, body } = await owner.patch(path, { allowedCidrs });
      assert.deepEqual([status, body.error], [403, 'fresh_sign_in_required'], JSON.stringify(allowedCidrs));
    }
    assert.equal((await make()).body.error, 'fresh_sign_in_required');
    const row = await api.db('api_keys').where({ id: shut.id }).first('allowed_cidrs');
    assert.deepEqual(row?.allowed_cidrs, shut.allowedCidrs, 'a refusal changes nothing');
    for (const allowedCidrs of [['2001:db8::/32', '192.0.2.0/24'], ['192.0.2.128/25'], ['192.0.2.200']]) {
      assert.equal((await owner.patch(path, { allowedCidrs })).status, 200, JSON.stringify(allowedCidrs));
    }
    assert.equal((await owner.patch(path, { name: 'renamed' })).status, 200);
    assert.equal(
      (await owner.patch(`/v1/api-keys/${open.id}`, { allowedCidrs: ['192.0.2.0/24'] })).status,
      200,
    );
    assert.equal((await owner.delete(path)).status, 200);
  });

  it('write each change into the audit trail, and none that changes nothing', async () => {
    const { id } = await made();
    const path = `/v1/api-keys/${id}`;
    await owner.patch(path, { name: 'nightly', allowedCidrs: null });
    await owner.patch(path, { name: 'daily', allowedCidrs: null });
    await owner.patch(path, { allowedCidrs: ['::ffff:192.0.2.0/120'] });
    const events = await api
      .db('audit_events')
      .where({ kind: 'api_key_changed', user_id: owner.user.id })
      .orderBy('no');
    assert.deepEqual(
      events.map(({ details }) => details),
      [
        { keyId: id, changed: ['name'] },
        { keyId: id, changed: ['allowedCidrs'] },
      ],
    );
    const { body } = await owner.get(path);
    assert.deepEqual((body as unknown as Key).allowedCidrs, ['192.0.2.0/24']);
  });

  it('tell each change, and mail what lets a key do more', async () => {
    const { id } = await made({ allowedCidrs: ['192.0.2.0/24'], spendCapCents: 500 });
    const path = `/v1/api-keys/${id}`;
    const narrower = { allowedCidrs: ['192.0.2.7'], spendCapCents: 400 };
    const changes = [{ name: 'daily' }, narrower, { spendCapCents: 900 }, { allowedCidrs: null }, narrower];
    for (const change of [...changes, { name: 'daily' }]) {
      assert.equal((await owner.patch(path, change)).status, 200);
    }
    const told = await api.db('event_outbox').where({ entity_id: id, type: 'api_key.changed' }).orderBy('no');
    assert.deepEqual(
      told.map(({ data }) => data['changed']),
      changes.map((change) => Object.keys(change)),
    );
    const noted = await api
      .db('user_notices')
      .where({ user_id: owner.user.id, kind: 'api_key_widened' })
      .orderBy('id');
    const { hint } = (await api.db('api_keys').where({ id }).first())!;
    assert.deepEqual(
      noted.map(({ facts }) => facts),
      [
        { keyId: id, name: 'daily', hint, spendCapCents: 900, allowedCidrs: ['192.0.2.7/32'] },
        { keyId: id, name: 'daily', hint, spendCapCents: 900, allowedCidrs: null },
      ],
    );
  });

  it('list them by pages, the newest first, ended ones too, and nobody else’s', async () => {
    const other = await api.signIn();
    await insertApiKeyOf(api.db, other.user.id);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.unshift((await made()).id);
    await owner.delete(`/v1/api-keys/${ids[0]!}`);
    const page = async (query: string) =>
      (await owner.get(`/v1/api-keys${query}`)).body as unknown as {
        apiKeys: Key[];
        nextCursor: string | null;
      };
    const first = await page('?pageSize=2');
    const second = await page(`?pageSize=2&cursor=${first.nextCursor!}`);
    assert.deepEqual(
      [...first.apiKeys, ...second.apiKeys].map(({ id }) => id),
      ids,
    );
    assert.equal(second.nextCursor, null);
  });

  it('change nothing of a key that is revoked, or of an SSH key', async () => {
    const { id } = await made();
    await owner.delete(`/v1/api-keys/${id}`);
    assert.equal((await owner.patch(`/v1/api-keys/${id}`, { name: 'back' })).body.error, 'key_not_found');
    const { body } = await owner.post('/v1/ssh-keys', { name: 'laptop', generate: true });
    assert.equal((await owner.delete(`/v1/api-keys/${body.id}`)).body.error, 'key_not_found');
    assert.equal((await owner.delete(`/v1/ssh-keys/${id}`)).body.error, 'key_not_found');
  });

  it('end the streams of a key that is revoked before their next sign of life, and no others', async () => {
    const [first, second] = [await made(), await made()];
    const stream = async ({ key }: Key) =>
      openStream({ url: api.url }, '', { Authorization: `Bearer ${key}` });
    const [revoked, stays, session] = [await stream(first), await stream(second), await openStream(owner)];
    const startedMs = performance.now();
    await owner.delete(`/v1/api-keys/${first.id}`);
    await revoked.awaitClose();
    assert.ok(performance.now() - startedMs < streamLimits.commentEveryMs);
    assert.deepEqual(
      revoked.named('closed').map(({ data }) => data['reason']),
      ['key_ended'],
    );
    assert.deepEqual([stays.isClosed, session.isClosed], [false, false]);
    await api
      .db('api_keys')
      .where({ id: second.id })
      .update({
        created_at: api.db.raw(`clock_ms() - interval '2 d'`),
        expires_at: api.db.raw(`clock_ms() - interval '1 s'`),
      });
    await stays.awaitClose();
    assert.deepEqual(
      stays.named('closed').map(({ data }) => data['reason']),
      ['key_ended'],
    );
  });

  it('wake by their owner’s sign-in, and by no other’s', async () => {
    const mails = new CodeMails(api);
    const { key } = await made();
    await api
      .db('api_keys')
      .where({ user_id: owner.user.id })
      .update({ suspended_at: api.db.raw('clock_ms()') });
    await mails.signIn();
    assert.equal((await api.withKey(key).get('/v1/rentals')).body.error, 'key_suspended');
    await mails.signIn(owner.user.email);
    assert.equal((await api.withKey(key).get('/v1/rentals')).status, 200);
  });

  it('tell a key what it may do', async () => {
    const { id, key } = await made();
    const { body } = await api.withKey(key).get('/v1/auth/me');
    const me = body as unknown as { freshUntil: null; apiKey: { id: string } };
    assert.deepEqual([me.freshUntil, me.apiKey.id], [null, id]);
    assert.ok(!('apiKey' in (await owner.get('/v1/auth/me')).body));
  });
});
