import assert from 'node:assert/strict';
import { ApiClient, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertSessionOf } from '../../support/money/factories.js';
import { untilSomeoneWaits } from '../../support/someone-waits.js';
import { CodeMails, otherThan } from './code-mails.js';

const path = '/v1/auth/refresh-proof';
const MINUTE = 60_000;

interface Proof {
  readonly codeMailed: boolean;
  readonly freshUntil: string | null;
}

/** By attacks: whoever holds a cookie alone must not get past the mailbox. */
describe('showing anew who one is', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await api.signIn();
    await api.db('sessions').where({ user_id: user.user.id }).update({ proved_at: null });
  });

  /** Asks for a code, and reads the mail. */
  async function ask(client: ApiClient = user): Promise<string> {
    const { status, body } = await client.post(path, {});
    assert.deepEqual([status, body], [200, { codeMailed: true, freshUntil: null }]);
    const { email } = (await client.get('/v1/auth/me')).body.user;
    const mail = await api.db('mail_outbox').where({ recipient: email }).orderBy('id', 'desc').first();
    return /\b\d{6}\b/.exec(mail!.body!)![0];
  }
  /** Makes all codes of the user older by this much, so that they may ask again. */
  const age = (ms: number) =>
    api.db.raw(
      `update proof_codes set created_at = created_at - :ms * interval '1 millisecond' where user_id = :id`,
      { ms, id: user.user.id },
    );
  const isWrong = async (client: ApiClient, code: string) => {
    const { status, body } = await client.post(path, { code });
    assert.deepEqual([status, body.error], [401, 'code_invalid']);
  };
  const other = async () => {
    const client = new ApiClient(api.url, await insertSessionOf(api.db, user.user.id));
    await api.db('sessions').where({ user_id: user.user.id }).update({ proved_at: null });
    return client;
  };

  it('takes a mailed code, tells until when it holds, and is noted in the audit trail', async () => {
    const { status, body } = await user.post(path, { code: await ask() });
    const { codeMailed, freshUntil } = body as unknown as Proof;
    assert.deepEqual([status, codeMailed], [200, false]);
    assert.ok(Math.abs(Date.parse(freshUntil!) - Date.now() - 15 * MINUTE) < MINUTE);
    const me = (await user.get('/v1/auth/me')).body as unknown as Proof;
    assert.equal(me.freshUntil, freshUntil);
    assert.equal((await user.post('/v1/webhooks', { url: 'https://hooks.example.com/' })).status, 200);
    const [session] = await api.db('sessions').where({ user_id: user.user.id });
    const trail = await api.db('audit_events').where({ user_id: user.user.id, kind: 'proof_refreshed' });
    assert.deepEqual(
      trail.map(({ details, client_address }) => [details, client_address]),
      [[{ sessionId: session!.id }, '127.0.0.1']],
    );
  });

  it('gives the session another cookie: a stolen one is worth nothing from then on', async () => {
    const thief = new ApiClient(api.url, user.sid);
    const before = await api.db('sessions').where({ user_id: user.user.id });
    const answer = await user.post(path, { code: await ask() });
    assert.match(
      answer.headers.getSetCookie().join(),
      /^sid=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
    );
    assert.notEqual(user.sid, thief.sid);
    for (const late of [await thief.get('/v1/auth/me'), await thief.post(path, {})]) {
      assert.deepEqual([late.status, late.body.error], [401, 'unauthorized']);
    }
    const after = await api.db('sessions').where({ user_id: user.user.id });
    assert.deepEqual([after.length, after[0]!.id], [1, before[0]!.id]);
  });

  it('is not undone by the answer to a request that began with the cookie before', async () => {
    const code = await ask();
    const slow = new ApiClient(api.url, user.sid);
    await api.db.raw(`update sessions set last_seen_at = last_seen_at - interval '61 seconds'`);
    const held = await api.db.transaction();
    await held.raw('lock table ssh_keys in access exclusive mode');
    const late = slow.get('/v1/ssh-keys');
    await untilSomeoneWaits(api.db, 'it waits');
    assert.equal((await user.post(path, { code })).status, 200);
    await held.commit();
    const answer = await late;
    assert.deepEqual([answer.status, answer.headers.getSetCookie()], [200, []]);
    assert.equal((await user.get('/v1/auth/me')).status, 200);
  });

  it('takes a code once: not again, and of many at once one', async () => {
    const code = await ask();
    const twins = Array.from({ length: 6 }, () => new ApiClient(api.url, user.sid));
    const answers = await Promise.all(twins.map((twin) => twin.post(path, { code })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401, 401]);
    const winner = twins[answers.findIndex(({ status }) => status === 200)]!;
    await isWrong(winner, code);
  });

  it('dies of five wrong tries, also of those that come at once', async () => {
    const code = await ask();
    const tries = Array.from({ length: 40 }, () => user.post(path, { code: otherThan(code) }));
    assert.ok((await Promise.all(tries)).every(({ status }) => status === 401));
    await isWrong(user, code);
    const [row] = await api.db('proof_codes').where({ user_id: user.user.id });
    assert.deepEqual([row!.tries, row!.used_at], [5, null]);
    const [counted] = await api.db('failed_sign_ins').where({ user_id: user.user.id });
    assert.equal(counted!.failed, 41);
  });

  it('takes no code that another session of the same user asked for', async () => {
    const here = await ask();
    const there = await other();
    await isWrong(there, here);
    const code = await ask(there);
    if (code !== here) await isWrong(user, code);
    assert.equal((await there.post(path, { code })).status, 200);
    assert.equal((await user.post(path, { code: here })).status, 200);
  });

  it('takes no code of another user, and none of a sign-in; and a sign-in takes none of its', async () => {
    const stranger = await api.signIn();
    await api.db('sessions').where({ user_id: stranger.user.id }).update({ proved_at: null });
    const code = await ask(stranger);
    await isWrong(user, code);
    const { email } = user.user;
    const mailed = await new CodeMails(api).request(email);
    await isWrong(user, mailed.code);
    const own = await ask();
    const signIn = await api.stranger().post('/v1/auth/verify-code', { email, code: own });
    assert.deepEqual(
      [signIn.status, signIn.body.error],
      own === mailed.code ? [200, undefined] : [401, 'code_invalid'],
    );
  });

  it('takes no lapsed code, and only the newest', async () => {
    const first = await ask();
    await age(MINUTE);
    const second = await ask();
    if (first !== second) await isWrong(user, first);
    await api
      .db('proof_codes')
      .where({ user_id: user.user.id })
      .update({ expires_at: api.db.raw('clock_ms()') });
    await isWrong(user, second);
  });

  it('has a budget of codes of its own: one in 30 seconds, five an hour, ten a day', async () => {
    const limited = async () => {
      const { status, body } = await user.post(path, {});
      assert.deepEqual([status, body.error], [429, 'code_request_rate_limited']);
      return (body.details as unknown as { retryAfterSeconds: number }).retryAfterSeconds;
    };
    await ask();
    assert.ok((await limited()) <= 30);
    // Neither counts for the other.
    await new CodeMails(api).request(user.user.email);
    for (let n = 2; n <= 5; n += 1) {
      await age(31_000);
      await ask();
    }
    await age(31_000);
    assert.ok((await limited()) > 30 * 60);
    await age(60 * MINUTE);
    for (let n = 6; n <= 10; n += 1) {
      await ask();
      await age(13 * MINUTE);
    }
    assert.ok((await limited()) > 12 * 60 * 60);
  });

  it('counts askers that come at once one after the other, and all sessions of a user together', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => user.post(path, {})));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    const sessions: ApiClient[] = [];
    for (let nth = 0; nth < 21; nth += 1) sessions.push(await other());
    const more = await Promise.all(sessions.map((session) => session.post(path, {})));
    assert.equal(more.filter(({ status }) => status === 200).length, 19);
    assert.equal(more.filter(({ status }) => status === 429).length, 2);
  });

  it('mails nothing to whoever has no session, and refuses what is no code', async () => {
    const { status, body } = await api.stranger().post(path, {});
    assert.deepEqual([status, body.error], [401, 'unauthorized']);
    for (const code of ['12345', '1234567', 123_456, '', '१२३४५६']) {
      const answer = await user.post(path, { code });
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
    }
    assert.equal((await user.post(path)).status, 400);
  });

  it('leaves nothing of a try whose session ends meanwhile', async () => {
    const code = await ask();
    const twin = new ApiClient(api.url, user.sid);
    const [proved, out] = await Promise.all([user.post(path, { code }), twin.post('/v1/auth/logout')]);
    assert.equal(out.status === 200 || out.status === 401, true);
    const sessions = await api.db('sessions').where({ user_id: user.user.id });
    // Whoever was first: a session that was ended did not come back.
    assert.equal(sessions.length, proved.status === 200 && out.status === 401 ? 1 : sessions.length);
    if (proved.status === 401) assert.equal(sessions.length, 0);
  });
});
