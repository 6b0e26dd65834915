import assert from 'node:assert/strict';
import type { presentSession } from '../../../api/accounts/sessions.js';
import { newId } from '../../../adapters/ids.js';
import { ApiClient, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertSessionOf } from '../../support/money/factories.js';
import { CodeMails } from './code-mails.js';

type Shown = ReturnType<typeof presentSession>;
interface Page {
  readonly sessions: readonly Shown[];
  readonly nextCursor: string | null;
}

const path = '/v1/auth/sessions';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';

describe('the sessions of a user', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await api.signIn();
  });
  const another = async (userId = user.user.id) =>
    new ApiClient(api.url, await insertSessionOf(api.db, userId));
  const list = async (client: ApiClient = user, query = '') =>
    (await client.get(path + query)).body as unknown as Page;
  const idOf = async (client: ApiClient) => (await list(client)).sessions.find((one) => one.isCurrent)!.id;
  const told = async () => {
    const events = await api.db('event_outbox').where({ user_id: user.user.id }).orderBy('no');
    return events
      .filter(({ type }) => type === 'session.ended')
      .map((event) => [event.entity_id, event.data]);
  };
  const audited = async () => {
    const rows = await api.db('audit_events').where({ user_id: user.user.id }).orderBy('no');
    return rows.map(({ kind, entity_id, details }) => [kind, entity_id, details]);
  };

  it('are listed with the device, the address and the last use, newest first, and nothing of the token', async () => {
    const mails = new CodeMails(api);
    const email = user.user.email;
    const { client, code } = await mails.request(email);
    const body = JSON.stringify({ email, code });
    const headers = { 'Content-Type': 'application/json', 'User-Agent': firefox };
    assert.equal((await client.send('POST', '/v1/auth/verify-code', body, headers)).status, 200);
    const { sessions, nextCursor } = await list(client);
    assert.deepEqual(
      sessions.map((one) => [one.isCurrent, one.device, one.address]),
      [
        [true, 'Firefox on Linux', '127.0.0.1'],
        [false, null, null],
      ],
    );
    assert.equal(nextCursor, null);
    const [row] = await api.db('sessions').where({ id: sessions[0]!.id });
    assert.equal(sessions[0]!.createdAt, row!.created_at.toISOString());
    assert.equal(sessions[0]!.lastUsedAt, row!.last_seen_at.toISOString());
    const text = JSON.stringify(sessions);
    for (const form of ['hex', 'base64', 'base64url'] as const) {
      assert.ok(!text.includes(row!.token_hash.toString(form)));
    }
    assert.ok(!text.includes(client.sid!));
  });

  it('tell from what and from where they were used last, once a minute', async () => {
    const use = () => user.get('/v1/auth/me', { 'User-Agent': 'curl/8.5.0' });
    await use();
    assert.equal((await list()).sessions[0]!.device, null);
    await api
      .db('sessions')
      .where({ user_id: user.user.id })
      .update({ last_seen_at: api.db.raw(`clock_ms() - interval '61 seconds'`) });
    await use();
    const [session] = (await list()).sessions;
    assert.deepEqual([session!.device, session!.address], ['curl', '127.0.0.1']);
  });

  it('end one by one by another of them, at once and for good', async () => {
    const other = await another();
    const id = await idOf(other);
    assert.deepEqual((await user.delete(`${path}/${id}`)).body, { ok: true });
    assert.equal((await other.get('/v1/auth/me')).status, 401);
    assert.equal((await user.get('/v1/auth/me')).status, 200);
    const again = await user.delete(`${path}/${id}`);
    assert.deepEqual([again.status, again.body.error], [404, 'session_not_found']);
    assert.deepEqual(await told(), [[id, { by: 'other_session' }]]);
    assert.deepEqual(await audited(), [['signed_out', id, { by: 'other_session' }]]);
  });

  it('end themselves as a logout does', async () => {
    const id = await idOf(user);
    const { status, headers } = await user.delete(`${path}/${id}`);
    assert.equal(status, 200);
    assert.match(headers.getSetCookie().join(), /^sid=; Path=\/; Max-Age=0;/);
    assert.deepEqual(await told(), [[id, { by: 'sign_out' }]]);
    assert.deepEqual(await audited(), [['signed_out', id, null]]);
  });

  it('of another user are unknown, as those are that never were', async () => {
    const stranger = await api.signIn();
    const foreign = await idOf(stranger);
    const answers = [];
    for (const id of [foreign, newId('ses'), 'ses_x', '%00']) {
      answers.push(await user.delete(`${path}/${id}`));
    }
    for (const { status, body } of answers) {
      assert.deepEqual(
        [status, body.error, body.message],
        [404, 'session_not_found', answers[0]!.body.message],
      );
    }
    assert.equal((await stranger.get('/v1/auth/me')).status, 200);
    assert.equal((await list()).sessions.length, 1);
  });

  it('end all but the one that asks, with one line in the audit trail and an event for each', async () => {
    const others = await Promise.all([another(), another(), another()]);
    const stranger = await api.signIn();
    assert.deepEqual((await user.post(`${path}/end-others`)).body, { ended: 3 });
    for (const client of others) assert.equal((await client.get('/v1/auth/me')).status, 401);
    assert.equal((await stranger.get('/v1/auth/me')).status, 200);
    assert.equal((await told()).length, 3);
    assert.deepEqual(await audited(), [['signed_out', null, { by: 'other_session', sessions: 3 }]]);
    assert.deepEqual((await user.post(`${path}/end-others`)).body, { ended: 0 });
    assert.equal((await audited()).length, 1);
  });

  it('that end each other’s at the same moment leave one', async () => {
    const others = await Promise.all(Array.from({ length: 7 }, () => another()));
    const all = [user, ...others];
    const answers = await Promise.all(all.map((client) => client.post(`${path}/end-others`)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array<number>(7).fill(401)]);
    assert.equal((await api.db('sessions').where({ user_id: user.user.id })).length, 1);
  });

  it('need no fresh sign-in to end', async () => {
    const other = await another();
    await api.db('sessions').where({ user_id: user.user.id }).update({ proved_at: null });
    assert.equal((await user.delete(`${path}/${await idOf(other)}`)).status, 200);
    assert.equal((await user.post(`${path}/end-others`)).status, 200);
  });

  it('are read page by page, whatever ends meanwhile', async () => {
    for (let n = 0; n < 6; n += 1) await another();
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await list(user, `?pageSize=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.sessions.map(({ id }) => id));
      cursor = page.nextCursor;
      const last = page.sessions.at(-1)!;
      if (!last.isCurrent) await user.delete(`${path}/${last.id}`);
    }
    assert.deepEqual([seen.length, new Set(seen).size], [7, 7]);
    assert.equal(seen.at(-1), await idOf(user));
  });

  it('refuse a cursor that no page gave', async () => {
    const id = newId('ses');
    for (const key of [[1], [id], ['1', id], [-1, id], [1.5, id], [1e15, id], [1, 'ses_x'], [1, id, 2]]) {
      const cursor = Buffer.from(JSON.stringify(key)).toString('base64url');
      const { status, body } = await user.get(`${path}?cursor=${cursor}`);
      assert.deepEqual([status, body.error], [400, 'validation_failed'], JSON.stringify(key));
    }
  });

  it('are not listed once they have expired', async () => {
    const other = await another();
    const id = await idOf(other);
    await api
      .db('sessions')
      .where({ id })
      .update({
        created_at: api.db.raw(`clock_ms() - interval '1 day'`),
        expires_at: api.db.raw('clock_ms()'),
      });
    assert.deepEqual(
      (await list()).sessions.map((one) => one.isCurrent),
      [true],
    );
  });

  it('may be ten thousand: a page is soon there, and all end at once', async () => {
    await api.db.raw(
      `insert into sessions (token_hash, user_id, expires_at, created_at)
       select sha256(('of many ' || n)::bytea), ?, clock_ms() + interval '1 day', clock_ms() - n * interval '1 second'
         from generate_series(1, 10000) n`,
      [user.user.id],
    );
    await api.db.raw('analyze sessions');
    const page = await list(user, '?pageSize=100');
    assert.equal(page.sessions.length, 100);
    const { rows } = await api.db.raw<{ rows: Record<string, string>[] }>(
      `explain select id from sessions where user_id = ? and expires_at > clock_ms()
        order by created_at desc, id desc limit 101`,
      [user.user.id],
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.match(plan, /Index Scan using sessions_of_user/);
    assert.doesNotMatch(plan, /Sort/);
    assert.deepEqual((await user.post(`${path}/end-others`)).body, { ended: 10_000 });
    assert.equal((await told()).length, 10_000);
  });
});
