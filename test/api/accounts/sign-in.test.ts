import assert from 'node:assert/strict';
import { ApiClient, startApi, type TestApi } from '../../support/http/api.js';
import { CodeMails, otherThan as other } from './code-mails.js';

const MINUTE = 60_000;

describe('signing in', () => {
  let api: TestApi;
  let mails: CodeMails;

  before(async () => {
    api = await startApi();
    mails = new CodeMails(api);
  });
  after(() => api.stop());

  describe('POST /v1/auth/verify-code', () => {
    it('makes the user with an empty wallet at the first sign-in, and finds it at the next', async () => {
      const email = mails.newEmail();
      const first = await mails.request(email.toUpperCase());
      const answer = await first.client.post('/v1/auth/verify-code', { email, code: first.code });
      assert.equal(answer.status, 200);
      assert.match(answer.body.user.id, /^usr_[0-9A-HJKMNP-TV-Z]{26}$/);
      assert.equal(answer.body.user.email, email);
      assert.match(answer.body.user.createdAt, /Z$/);
      assert.equal(answer.body.created, true);
      assert.ok(Math.abs(Date.parse(answer.body.expiresAt) - Date.now() - 30 * 86_400_000) < MINUTE);
      const wallet = await api.db('wallets').where({ user_id: answer.body.user.id }).first();
      assert.equal(wallet?.available_cents, 0);

      await mails.age(email, MINUTE);
      const second = await mails.request(email);
      const again = await second.client.post('/v1/auth/verify-code', { email, code: second.code });
      assert.deepEqual(again.body.user, answer.body.user);
      assert.equal(again.body.created, false);
    });

    it('sets the cookie with all its attributes, and keeps only a hash of it', async () => {
      const email = mails.newEmail();
      const { client, code } = await mails.request(email);
      const answer = await client.post('/v1/auth/verify-code', { email, code });
      const [cookie] = answer.headers.getSetCookie();
      assert.match(cookie!, /^sid=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
      const sessions = await api.db('sessions').where({ user_id: answer.body.user.id });
      assert.equal(sessions.length, 1);
      assert.ok(!sessions[0]!.token_hash.equals(Buffer.from(client.sid!, 'base64url')));
    });

    it('gives a new account the cap of its day, and leaves it when the setting changes', async () => {
      const email = mails.newEmail();
      const capOf = async (autoTopupDailyCapCents: number | null): Promise<number | null | undefined> => {
        const set = await startApi({ settings: { autoTopupDailyCapCents }, databaseUrl: api.databaseUrl });
        try {
          const { code } = await mails.request(email);
          await set.stranger().post('/v1/auth/verify-code', { email, code });
        } finally {
          await set.stop();
        }
        await mails.age(email, MINUTE);
        return (await api.db('users').where({ email }).first())?.auto_topup_daily_cap_cents;
      };
      assert.equal(await capOf(3_000), 3_000);
      assert.equal(await capOf(9_000), 3_000);
    });

    it('marks the cookie Secure outside local development', async () => {
      const secure = await startApi({ settings: { secureCookie: true }, databaseUrl: api.databaseUrl });
      try {
        const email = mails.newEmail();
        const { code } = await mails.request(email);
        const answer = await secure.stranger().post('/v1/auth/verify-code', { email, code });
        assert.match(answer.headers.getSetCookie()[0]!, /; Secure$/);
      } finally {
        await secure.stop();
      }
    });

    it('refuses a wrong code, and any code after five wrong ones', async () => {
      const email = mails.newEmail();
      const { client, code } = await mails.request(email);
      for (let tries = 0; tries < 5; tries += 1) {
        const answer = await client.post('/v1/auth/verify-code', { email, code: other(code) });
        assert.deepEqual([answer.status, answer.body.error], [401, 'code_invalid']);
      }
      const right = await client.post('/v1/auth/verify-code', { email, code });
      assert.deepEqual([right.status, right.body.error], [401, 'code_invalid']);
      assert.equal(await api.db('users').where({ email }).first(), undefined);
    });

    it('takes the right code after four wrong ones', async () => {
      const email = mails.newEmail();
      const { client, code } = await mails.request(email);
      for (let tries = 0; tries < 4; tries += 1) {
        await client.post('/v1/auth/verify-code', { email, code: other(code) });
      }
      assert.equal((await client.post('/v1/auth/verify-code', { email, code })).status, 200);
    });

    it('counts wrong tries that come at the same moment', async () => {
      const email = mails.newEmail();
      const { client, code } = await mails.request(email);
      await Promise.all(
        Array.from({ length: 5 }, () => client.post('/v1/auth/verify-code', { email, code: other(code) })),
      );
      assert.equal((await client.post('/v1/auth/verify-code', { email, code })).status, 401);
    });

    it('takes a code once, even when it comes twice at the same moment', async () => {
      const email = mails.newEmail();
      const { code } = await mails.request(email);
      const answers = await Promise.all(
        [1, 2].map(() => api.stranger().post('/v1/auth/verify-code', { email, code })),
      );
      assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 401]);
      const reused = await api.stranger().post('/v1/auth/verify-code', { email, code });
      assert.deepEqual([reused.status, reused.body.error], [401, 'code_invalid']);
    });

    it('refuses an expired code in the words of a wrong one, and of one that was never sent', async () => {
      const email = mails.newEmail();
      const { client, code } = await mails.request(email);
      const wrong = await client.post('/v1/auth/verify-code', { email, code: other(code) });
      await mails.expire(email, code);
      const expired = await client.post('/v1/auth/verify-code', { email, code });
      const unsent = await client.post('/v1/auth/verify-code', { email: mails.newEmail(), code });
      for (const { status, body } of [wrong, expired, unsent]) {
        assert.deepEqual([status, body.error, body.message], [401, 'code_invalid', wrong.body.message]);
        assert.equal(body.details, undefined);
      }
      assert.equal(await api.db('users').where({ email }).first(), undefined);
    });

    it('replaces a session that somebody else put into the browser', async () => {
      const attacker = await api.signIn();
      for (const planted of [attacker.sid!, 'A'.repeat(43)]) {
        const email = mails.newEmail();
        const { client, code } = await mails.request(email);
        client.sid = planted;
        assert.equal((await client.post('/v1/auth/verify-code', { email, code })).status, 200);
        assert.notEqual(client.sid, planted);
        assert.equal((await client.get('/v1/auth/me')).body.user.email, email);
      }
    });

    it('ends the live session that the browser came with, and tells its owner', async () => {
      const former = await api.signIn();
      const sid = former.sid!;
      const { code } = await mails.request(former.user.email);
      assert.equal(
        (await former.post('/v1/auth/verify-code', { email: former.user.email, code })).status,
        200,
      );
      assert.notEqual(former.sid, sid);
      const old = await new ApiClient(api.url, sid).get('/v1/auth/me');
      assert.deepEqual([old.status, old.body.error], [401, 'unauthorized']);
      assert.equal((await former.get('/v1/auth/me')).status, 200);
      const events = await api.db('audit_events').where({ user_id: former.user.id }).orderBy('no');
      assert.deepEqual(
        events.map(({ kind, details, client_address: from }) => [kind, details, from]),
        [
          ['signed_out', { by: 'new_sign_in' }, '127.0.0.1'],
          ['signed_in', { by: 'code' }, '127.0.0.1'],
        ],
      );
    });

    it('leaves the session alone that a refused sign-in came with', async () => {
      const client = await api.signIn();
      const email = mails.newEmail();
      const { code } = await mails.request(email);
      await client.post('/v1/auth/verify-code', { email, code: other(code) });
      assert.equal((await client.get('/v1/auth/me')).body.user.email, client.user.email);
    });

    it('writes neither the code nor the session nor the address into the log', async () => {
      const email = mails.newEmail();
      const { client, code } = await mails.request(email);
      await client.post('/v1/auth/verify-code', { email, code: other(code) });
      await client.post('/v1/auth/verify-code', { email, code });
      const lines = api.logged.slice(-3);
      assert.equal(lines.filter(({ path }) => path === '/v1/auth/verify-code').length, 2);
      const texts = lines.map((line) => JSON.stringify(line));
      // The six digits may occur by chance within a longer number, such as a time.
      const wholeCode = new RegExp(`(?<!\\d)${code}(?!\\d)`);
      assert.ok(
        !texts.some((text) => wholeCode.test(text) || text.includes(client.sid!) || text.includes(email)),
      );
    });

    it('refuses another address’s code at an address without any', async () => {
      const { client, code } = await mails.request(mails.newEmail());
      const answer = await client.post('/v1/auth/verify-code', { email: mails.newEmail(), code });
      assert.deepEqual([answer.status, answer.body.error], [401, 'code_invalid']);
    });

    it('sets a cookie of sign-ins beside the session’s, which knows the browser again', async () => {
      const email = mails.newEmail();
      const { client, code } = await mails.request(email);
      const asked = client.browser;
      const answer = await client.post('/v1/auth/verify-code', { email, code });
      const [, cookie] = answer.headers.getSetCookie();
      assert.match(
        cookie!,
        /^browser=[\w-]{43}\.[\w-]{43}; Path=\/v1\/auth; Max-Age=15552000; HttpOnly; SameSite=Lax$/,
      );
      assert.notEqual(
        client.browser!.split('.')[0],
        asked,
        'what was in the browser before is worth nothing',
      );
      await mails.age(email, MINUTE);
      const again = await client.post('/v1/auth/request-code', { email });
      assert.deepEqual(again.headers.getSetCookie(), [], 'it is not made shorter');
    });

    it('refuses a text that is no code of six digits', async () => {
      for (const code of ['12345', '1234567', 'abcdef', 123456, null, '１２３４５６']) {
        const answer = await api.stranger().post('/v1/auth/verify-code', { email: mails.newEmail(), code });
        assert.deepEqual(
          [answer.status, answer.body.error],
          [400, 'validation_failed'],
          JSON.stringify(code),
        );
        assert.equal(answer.body.details.fields[0]!.field, 'code');
      }
    });
  });

  describe('a session', () => {
    it('tells who is signed in', async () => {
      const client = await mails.signIn();
      const answer = await client.get('/v1/auth/me');
      assert.equal(answer.status, 200);
      assert.deepEqual(Object.keys(answer.body), ['user', 'expiresAt', 'freshUntil', 'closingSince']);
      assert.deepEqual(Object.keys(answer.body.user), ['id', 'email', 'createdAt']);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    });

    it('slides, written at most once a minute', async () => {
      const client = await mails.signIn();
      assert.deepEqual((await client.get('/v1/auth/me')).headers.getSetCookie(), []);
      const before = (await client.get('/v1/auth/me')).body.expiresAt;
      await api.db.raw(
        `update sessions set last_seen_at = last_seen_at - interval '61 seconds',
           expires_at = expires_at - interval '61 seconds', created_at = created_at - interval '61 seconds'`,
      );
      const renewed = await client.get('/v1/auth/me');
      assert.match(renewed.headers.getSetCookie()[0]!, /^sid=.*Max-Age=2592000/);
      assert.ok(Date.parse(renewed.body.expiresAt) >= Date.parse(before));
      assert.deepEqual((await client.get('/v1/auth/me')).headers.getSetCookie(), []);
    });

    it('lives for 30 more days after each use', async () => {
      const client = await mails.signIn();
      const { user } = (await client.get('/v1/auth/me')).body;
      await api.db.raw(
        `update sessions set created_at = created_at - interval '29 days', last_seen_at = last_seen_at - interval '29 days',
           expires_at = expires_at - interval '29 days' where user_id = ?`,
        [user.id],
      );
      const used = await client.get('/v1/auth/me');
      assert.ok(Math.abs(Date.parse(used.body.expiresAt) - Date.now() - 30 * 86_400_000) < MINUTE);
      assert.equal((await client.get('/v1/auth/me')).body.expiresAt, used.body.expiresAt);
    });

    it('ends when it has expired', async () => {
      const client = await mails.signIn();
      const me = await client.get('/v1/auth/me');
      await api.db.raw(
        `update sessions set created_at = clock_ms() - interval '31 days', expires_at = clock_ms() where user_id = ?`,
        [me.body.user.id],
      );
      assert.deepEqual((await client.get('/v1/auth/me')).body.error, 'unauthorized');
    });

    it('ends for good by logout, which clears the cookie and no other session', async () => {
      const email = mails.newEmail();
      const first = await mails.request(email);
      await first.client.post('/v1/auth/verify-code', { email, code: first.code });
      await mails.age(email, MINUTE);
      const second = await mails.request(email);
      await second.client.post('/v1/auth/verify-code', { email, code: second.code });
      const sid = first.client.sid!;

      const answer = await first.client.post('/v1/auth/logout');
      assert.deepEqual([answer.status, answer.body], [200, { ok: true }]);
      assert.match(answer.headers.getSetCookie()[0]!, /^sid=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/);
      first.client.sid = sid;
      const later = await first.client.get('/v1/auth/me');
      assert.deepEqual([later.status, later.body.error], [401, 'unauthorized']);
      assert.equal((await second.client.get('/v1/auth/me')).status, 200);
    });
  });
});
