import assert from 'node:assert/strict';
import { startApi, type TestApi } from '../support/api.js';
import { CodeMails } from './code-mails.js';

const MINUTE = 60_000;

describe('POST /v1/auth/request-code', () => {
  let api: TestApi;
  let mails: CodeMails;

  before(async () => {
    api = await startApi();
    mails = new CodeMails(api);
  });
  after(() => api.stop());

  it('answers the same for a known and an unknown address', async () => {
    const email = mails.newEmail();
    const { client, code } = await mails.request(email);
    await client.post('/v1/auth/verify-code', { email, code });
    await mails.age(email, MINUTE);
    const known = await api.stranger().post('/v1/auth/request-code', { email, intent: 'signup' });
    const unknown = await api
      .stranger()
      .post('/v1/auth/request-code', { email: mails.newEmail(), intent: 'login' });
    assert.deepEqual([known.status, known.body], [200, { ok: true }]);
    assert.deepEqual([unknown.status, unknown.body], [200, { ok: true }]);
  });

  it('puts a mail into the outbox that is wiped once sent, with the code in its body only', async () => {
    const email = mails.newEmail();
    const { code } = await mails.request(email);
    const mail = (await api.db('mail_outbox').where({ recipient: email }).first())!;
    assert.match(mail.cause, /^code:\d+$/);
    assert.equal(mail.wipe_after_sending, true);
    assert.ok(!mail.subject.includes(code));
  });

  it('stores the code hashed', async () => {
    const email = mails.newEmail();
    const { code } = await mails.request(email);
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
      const answer = await api
        .stranger()
        .post('/v1/auth/request-code', { email: mails.newEmail(), ...extra });
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
    }
  });

  it('allows one request per address in 30 seconds, whatever its case', async () => {
    const email = mails.newEmail();
    await mails.request(email);
    const again = await api.stranger().post('/v1/auth/request-code', { email: email.toUpperCase() });
    assert.deepEqual([again.status, again.body.error], [429, 'code_request_rate_limited']);
    const retryAfter = Number(again.headers.get('retry-after'));
    assert.ok(retryAfter > 25 && retryAfter <= 30, `${retryAfter}`);
    await mails.age(email, 31_000);
    assert.equal((await api.stranger().post('/v1/auth/request-code', { email })).status, 200);
  });

  it('allows one of many requests at the same moment', async () => {
    const email = mails.newEmail();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.stranger().post('/v1/auth/request-code', { email })),
    );
    assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
  });

  it('allows 5 requests per address in an hour', async () => {
    const email = mails.newEmail();
    for (let count = 0; count < 5; count += 1) {
      await mails.request(email);
      await mails.age(email, MINUTE);
    }
    const sixth = await api.stranger().post('/v1/auth/request-code', { email });
    assert.equal(sixth.status, 429);
    const retryAfter = Number(sixth.headers.get('retry-after'));
    assert.ok(retryAfter > 54 * 60 && retryAfter <= 55 * 60, `${retryAfter}`);
    await mails.age(email, 56 * MINUTE);
    assert.equal((await api.stranger().post('/v1/auth/request-code', { email })).status, 200);
  });

  it('allows 20 requests per address in a day', async () => {
    const email = mails.newEmail();
    for (let count = 0; count < 20; count += 1) {
      await mails.request(email);
      await mails.age(email, 20 * MINUTE);
    }
    const answer = await api.stranger().post('/v1/auth/request-code', { email });
    assert.equal(answer.status, 429);
    assert.ok(Number(answer.headers.get('retry-after')) > 17 * 3600);
  });

  it('limits requests of one client for many addresses', async () => {
    const strict = await startApi({ settings: { codeRequestsPerClientPerHour: 3 } });
    try {
      for (let count = 0; count < 3; count += 1) {
        const answer = await strict.stranger().post('/v1/auth/request-code', { email: mails.newEmail() });
        assert.equal(answer.status, 200);
      }
      const fourth = await strict.stranger().post('/v1/auth/request-code', { email: mails.newEmail() });
      assert.deepEqual([fourth.status, fourth.body.error], [429, 'code_request_rate_limited']);
      assert.ok(Number(fourth.headers.get('retry-after')) > 3_500);
    } finally {
      await strict.stop();
    }
  });
});
