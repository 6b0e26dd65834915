import assert from 'node:assert/strict';
import { startApi, type ApiClient, type TestApi } from '../support/api.js';

const MINUTE = 60_000;

describe('signing in', () => {
  let api: TestApi;
  let mails = 0;

  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  /** The code in the newest mail to an address. */
  async function codeFor(email: string): Promise<string> {
    const mail = await api.db('mail_outbox').where({ recipient: email }).orderBy('id', 'desc').first();
    return /\b\d{6}\b/.exec(mail?.body ?? '')![0];
  }

  function newEmail(): string {
    mails += 1;
    return `person${mails}@example.com`;
  }

  async function requested(email: string): Promise<{ client: ApiClient; code: string }> {
    const client = api.stranger();
    assert.deepEqual((await client.post('/v1/auth/request-code', { email })).body, { ok: true });
    return { client, code: await codeFor(email.toLowerCase()) };
  }

  /** Makes everything that was sent to an address older. */
  async function age(email: string, ms: number): Promise<void> {
    await api.db.raw(
      `update login_codes set created_at = created_at - :ms * interval '1 millisecond',
         expires_at = expires_at - :ms * interval '1 millisecond' where email = :email`,
      { email, ms },
    );
  }

  function other(code: string): string {
    return ((Number(code) + 1) % 1_000_000).toString().padStart(6, '0');
  }

  describe('POST /v1/auth/request-code', () => {
    it('answers the same for a known and an unknown address', async () => {
      const email = newEmail();
      const { client, code } = await requested(email);
      await client.post('/v1/auth/verify-code', { email, code });
      await age(email, MINUTE);
      const known = await api.stranger().post('/v1/auth/request-code', { email, intent: 'signup' });
      const unknown = await api
        .stranger()
        .post('/v1/auth/request-code', { email: newEmail(), intent: 'login' });
      assert.deepEqual([known.status, known.body], [200, { ok: true }]);
      assert.deepEqual([unknown.status, unknown.body], [200, { ok: true }]);
    });

    it('puts a mail into the outbox that is wiped once sent, with the code in its body only', async () => {
      const email = newEmail();
      const { code } = await requested(email);
      const mail = (await api.db('mail_outbox').where({ recipient: email }).first())!;
      assert.match(mail.cause, /^code:\d+$/);
      assert.equal(mail.wipe_after_sending, true);
      assert.ok(!mail.subject.includes(code));
    });

    it('stores the code hashed', async () => {
      const email = newEmail();
      const { code } = await requested(email);
      const row = (await api.db('login_codes').where({ email }).first())!;
      assert.equal(row.code_hash.length, 32);
      assert.ok(!JSON.stringify({ ...row, code_hash: row.code_hash.toString('latin1') }).includes(code));
      assert.equal(row.expires_at.getTime() - row.created_at.getTime() <= 10 * MINUTE + 50, true);
    });

    it('refuses what is no e-mail address', async () => {
      const wrong = [
        '',
        'a',
        'a@',
        '@b.de',
        'a b@c.de',
        'a@b',
        'ü@example.com',
        7,
        null,
        ['a@b.de'],
        `${'a'.repeat(250)}@b.de`,
      ];
      for (const email of wrong) {
        const answer = await api.stranger().post('/v1/auth/request-code', { email });
        assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_email'], JSON.stringify(email));
      }
      const missing = await api.stranger().post('/v1/auth/request-code', {});
      assert.deepEqual([missing.status, missing.body.error], [400, 'invalid_email']);
    });

    it('refuses unknown fields and intents', async () => {
      for (const extra of [{ x: 1 }, { intent: 'other' }]) {
        const answer = await api.stranger().post('/v1/auth/request-code', { email: newEmail(), ...extra });
        assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
      }
    });

    it('allows one request per address in 30 seconds, whatever its case', async () => {
      const email = newEmail();
      await requested(email);
      const again = await api.stranger().post('/v1/auth/request-code', { email: email.toUpperCase() });
      assert.deepEqual([again.status, again.body.error], [429, 'code_request_rate_limited']);
      const retryAfter = Number(again.headers.get('retry-after'));
      assert.ok(retryAfter > 25 && retryAfter <= 30, `${retryAfter}`);
      await age(email, 31_000);
      assert.equal((await api.stranger().post('/v1/auth/request-code', { email })).status, 200);
    });

    it('allows one of many requests at the same moment', async () => {
      const email = newEmail();
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => api.stranger().post('/v1/auth/request-code', { email })),
      );
      assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
    });

    it('allows 5 requests per address in an hour', async () => {
      const email = newEmail();
      for (let count = 0; count < 5; count += 1) {
        await requested(email);
        await age(email, MINUTE);
      }
      const sixth = await api.stranger().post('/v1/auth/request-code', { email });
      assert.equal(sixth.status, 429);
      const retryAfter = Number(sixth.headers.get('retry-after'));
      assert.ok(retryAfter > 54 * 60 && retryAfter <= 55 * 60, `${retryAfter}`);
      await age(email, 56 * MINUTE);
      assert.equal((await api.stranger().post('/v1/auth/request-code', { email })).status, 200);
    });

    it('allows 20 requests per address in a day', async () => {
      const email = newEmail();
      for (let count = 0; count < 20; count += 1) {
        await requested(email);
        await age(email, 20 * MINUTE);
      }
      const answer = await api.stranger().post('/v1/auth/request-code', { email });
      assert.equal(answer.status, 429);
      assert.ok(Number(answer.headers.get('retry-after')) > 17 * 3600);
    });

    it('limits requests of one client for many addresses', async () => {
      const strict = await startApi({ settings: { codeRequestsPerClientPerHour: 3 } });
      try {
        for (let count = 0; count < 3; count += 1) {
          const answer = await strict.stranger().post('/v1/auth/request-code', { email: newEmail() });
          assert.equal(answer.status, 200);
        }
        const fourth = await strict.stranger().post('/v1/auth/request-code', { email: newEmail() });
        assert.deepEqual([fourth.status, fourth.body.error], [429, 'code_request_rate_limited']);
        assert.ok(Number(fourth.headers.get('retry-after')) > 3_500);
      } finally {
        await strict.stop();
      }
    });
  });

  describe('POST /v1/auth/verify-code', () => {
    it('makes the user with an empty wallet at the first sign-in, and finds it at the next', async () => {
      const email = newEmail();
      const first = await requested(email.toUpperCase());
      const answer = await first.client.post('/v1/auth/verify-code', { email, code: first.code });
      assert.equal(answer.status, 200);
      assert.match(answer.body.user.id, /^usr_[0-9A-HJKMNP-TV-Z]{26}$/);
      assert.equal(answer.body.user.email, email);
      assert.match(answer.body.user.createdAt, /Z$/);
      assert.equal(answer.body.created, true);
      assert.ok(Math.abs(Date.parse(answer.body.expiresAt) - Date.now() - 30 * 86_400_000) < MINUTE);
      const wallet = await api.db('wallets').where({ user_id: answer.body.user.id }).first();
      assert.equal(wallet?.available_cents, 0);

      await age(email, MINUTE);
      const second = await requested(email);
      const again = await second.client.post('/v1/auth/verify-code', { email, code: second.code });
      assert.deepEqual(again.body.user, answer.body.user);
      assert.equal(again.body.created, false);
    });

    it('sets the cookie with all its attributes, and keeps only a hash of it', async () => {
      const email = newEmail();
      const { client, code } = await requested(email);
      const answer = await client.post('/v1/auth/verify-code', { email, code });
      const [cookie] = answer.headers.getSetCookie();
      assert.match(cookie!, /^sid=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
      const sessions = await api.db('sessions').where({ user_id: answer.body.user.id });
      assert.equal(sessions.length, 1);
      assert.ok(!sessions[0]!.token_hash.equals(Buffer.from(client.sid!, 'base64url')));
    });

    it('marks the cookie Secure outside local development', async () => {
      const secure = await startApi({ settings: { secureCookie: true }, databaseUrl: databaseUrl(api) });
      try {
        const email = newEmail();
        const { code } = await requested(email);
        const answer = await secure.stranger().post('/v1/auth/verify-code', { email, code });
        assert.match(answer.headers.getSetCookie()[0]!, /; Secure$/);
      } finally {
        await secure.stop();
      }
    });

    it('refuses a wrong code, and any code after five wrong ones', async () => {
      const email = newEmail();
      const { client, code } = await requested(email);
      for (let tries = 0; tries < 5; tries += 1) {
        const answer = await client.post('/v1/auth/verify-code', { email, code: other(code) });
        assert.deepEqual([answer.status, answer.body.error], [401, 'code_invalid']);
      }
      const right = await client.post('/v1/auth/verify-code', { email, code });
      assert.deepEqual([right.status, right.body.error], [401, 'code_invalid']);
      assert.equal(await api.db('users').where({ email }).first(), undefined);
    });

    it('takes the right code after four wrong ones', async () => {
      const email = newEmail();
      const { client, code } = await requested(email);
      for (let tries = 0; tries < 4; tries += 1) {
        await client.post('/v1/auth/verify-code', { email, code: other(code) });
      }
      assert.equal((await client.post('/v1/auth/verify-code', { email, code })).status, 200);
    });

    it('counts wrong tries that come at the same moment', async () => {
      const email = newEmail();
      const { client, code } = await requested(email);
      await Promise.all(
        Array.from({ length: 5 }, () => client.post('/v1/auth/verify-code', { email, code: other(code) })),
      );
      assert.equal((await client.post('/v1/auth/verify-code', { email, code })).status, 401);
    });

    it('takes a code once, even when it comes twice at the same moment', async () => {
      const email = newEmail();
      const { code } = await requested(email);
      const answers = await Promise.all(
        [1, 2].map(() => api.stranger().post('/v1/auth/verify-code', { email, code })),
      );
      assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 401]);
      const reused = await api.stranger().post('/v1/auth/verify-code', { email, code });
      assert.deepEqual([reused.status, reused.body.error], [401, 'code_invalid']);
    });

    it('refuses an expired code', async () => {
      const email = newEmail();
      const { client, code } = await requested(email);
      await age(email, 10 * MINUTE);
      const answer = await client.post('/v1/auth/verify-code', { email, code });
      assert.deepEqual([answer.status, answer.body.error], [401, 'code_expired']);
      assert.equal(await api.db('users').where({ email }).first(), undefined);
    });

    it('refuses a code of another address, and of nobody', async () => {
      const { client, code } = await requested(newEmail());
      const answer = await client.post('/v1/auth/verify-code', { email: newEmail(), code });
      assert.deepEqual([answer.status, answer.body.error], [401, 'code_invalid']);
    });

    it('refuses an older code once a newer one was sent', async () => {
      const email = newEmail();
      const first = await requested(email);
      await age(email, MINUTE);
      const second = await requested(email);
      if (first.code !== second.code) {
        const answer = await first.client.post('/v1/auth/verify-code', { email, code: first.code });
        assert.equal(answer.status, 401);
      }
      assert.equal(
        (await second.client.post('/v1/auth/verify-code', { email, code: second.code })).status,
        200,
      );
    });

    it('refuses what is no code of six digits', async () => {
      for (const code of ['12345', '1234567', 'abcdef', 123456, null, '１２３４５６']) {
        const answer = await api.stranger().post('/v1/auth/verify-code', { email: newEmail(), code });
        assert.deepEqual(
          [answer.status, answer.body.error],
          [400, 'validation_failed'],
          JSON.stringify(code),
        );
        assert.equal(answer.body.details.fields[0].field, 'code');
      }
    });
  });

  describe('a session', () => {
    async function signedIn(): Promise<ApiClient> {
      const email = newEmail();
      const { client, code } = await requested(email);
      await client.post('/v1/auth/verify-code', { email, code });
      return client;
    }

    it('tells who is signed in', async () => {
      const client = await signedIn();
      const answer = await client.get('/v1/auth/me');
      assert.equal(answer.status, 200);
      assert.deepEqual(Object.keys(answer.body), ['user', 'expiresAt']);
      assert.deepEqual(Object.keys(answer.body.user), ['id', 'email', 'createdAt']);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    });

    it('slides, written at most once a minute', async () => {
      const client = await signedIn();
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

    it('ends when it has expired', async () => {
      const client = await signedIn();
      const me = await client.get('/v1/auth/me');
      await api.db.raw(
        `update sessions set created_at = clock_ms() - interval '31 days', expires_at = clock_ms() where user_id = ?`,
        [me.body.user.id],
      );
      assert.deepEqual((await client.get('/v1/auth/me')).body.error, 'unauthorized');
    });

    it('ends for good by logout, which clears the cookie and no other session', async () => {
      const email = newEmail();
      const first = await requested(email);
      await first.client.post('/v1/auth/verify-code', { email, code: first.code });
      await age(email, MINUTE);
      const second = await requested(email);
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

function databaseUrl(api: TestApi): string {
  const connection = api.db.client.config.connection as { connectionString: string };
  return connection.connectionString;
}
