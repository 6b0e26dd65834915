import assert from 'node:assert/strict';
import { startApi, type TestApi } from '../../support/http/api.js';
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
    assert.equal(row.code_hash!.length, 32);
    assert.ok(!JSON.stringify({ ...row, code_hash: row.code_hash!.toString('latin1') }).includes(code));
  });

  it('makes the code valid for 10 minutes', async () => {
    const email = mails.newEmail();
    await mails.request(email);
    const row = (await api.db('login_codes').where({ email }).first())!;
    const validMs = row.expires_at.getTime() - row.created_at.getTime();
    // The two instants are read one after the other.
    assert.ok(validMs <= 10 * MINUTE && validMs > 10 * MINUTE - 5_000, `${validMs}`);
  });

  it('refuses a text that is no e-mail address', async () => {
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

  it('counts by the address that the proxy appended, and an IPv6 household as one client', async () => {
    const settings = { codeRequestsPerClientPerHour: 1, trustProxy: true };
    const behind = await startApi({ settings });
    try {
      const statuses: number[] = [];
      for (const from of [
        '203.0.113.7',
        '198.51.100.1, 203.0.113.7',
        '203.0.113.8',
        '2001:db8:1:2::1',
        '2001:db8:1:2:ffff::9',
        '2001:db8:1:3::1',
      ]) {
        const headers = { 'X-Forwarded-For': from };
        const email = mails.newEmail();
        const answer = await behind.stranger().post('/v1/auth/request-code', { email }, headers);
        statuses.push(answer.status);
      }
      assert.deepEqual(statuses, [200, 429, 200, 200, 429, 200]);
    } finally {
      await behind.stop();
    }
  });

  it('believes no X-Forwarded-For when there is no proxy', async () => {
    const open = await startApi({ settings: { codeRequestsPerClientPerHour: 1 } });
    try {
      const statuses: number[] = [];
      for (const from of ['203.0.113.7', '203.0.113.8']) {
        const headers = { 'X-Forwarded-For': from };
        const email = mails.newEmail();
        statuses.push((await open.stranger().post('/v1/auth/request-code', { email }, headers)).status);
      }
      assert.deepEqual(statuses, [200, 429]);
    } finally {
      await open.stop();
    }
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
