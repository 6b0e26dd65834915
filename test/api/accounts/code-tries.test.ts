import assert from 'node:assert/strict';
import { ApiClient, startApi, type TestApi } from '../../support/http/api.js';
import { until } from '../../support/until.js';
import { CodeMails, otherThan as other } from './code-mails.js';

const MINUTE = 60_000;

describe('the tries of a code (decision 84)', () => {
  let api: TestApi;
  let mails: CodeMails;

  before(async () => {
    api = await startApi();
    mails = new CodeMails(api);
  });
  after(() => api.stop());

  it('leaves the browser that asked its own five tries, whatever is tried elsewhere', async () => {
    const email = mails.newEmail();
    const { client, code } = await mails.request(email);
    const elsewhere = api.stranger();
    for (let tries = 0; tries < 12; tries += 1) {
      assert.equal((await elsewhere.post('/v1/auth/verify-code', { email, code: other(code) })).status, 401);
    }
    assert.equal(
      (await elsewhere.post('/v1/auth/verify-code', { email, code })).status,
      401,
      'theirs are used up',
    );
    assert.equal((await client.post('/v1/auth/verify-code', { email, code })).status, 200);
  });

  it('gives all other browsers, and clients without cookies, five tries together', async () => {
    const email = mails.newEmail();
    const { code } = await mails.request(email);
    for (let tries = 0; tries < 4; tries += 1) {
      const answer = await api.stranger().post('/v1/auth/verify-code', { email, code: other(code) });
      assert.equal(answer.status, 401);
    }
    assert.equal((await api.stranger().post('/v1/auth/verify-code', { email, code })).status, 200);
  });

  it('lets nobody try a code more than ten times, by whatever browsers', async () => {
    const email = mails.newEmail();
    const { client, code } = await mails.request(email);
    const asked = new ApiClient(api.url);
    await mails.ageRequests(email, MINUTE);
    await asked.post('/v1/auth/request-code', { email });
    const answers = await Promise.all(
      [client, asked, api.stranger()].flatMap((each) =>
        Array.from({ length: 8 }, () => each.post('/v1/auth/verify-code', { email, code: other(code) })),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]));
    const rows = await api.db('login_codes').where({ email }).orderBy('id');
    // Only its own browser tries the older code.
    assert.deepEqual(
      rows.map(({ tries, other_tries: others }) => [tries, others]),
      [
        [5, 0],
        [5, 5],
      ],
    );
  });

  it('takes the code that was mailed elsewhere in the browser that asked too', async () => {
    const email = mails.newEmail();
    const { client } = await mails.request(email);
    await mails.ageRequests(email, MINUTE);
    const { code } = await mails.request(email);
    assert.equal((await client.post('/v1/auth/verify-code', { email, code })).status, 200);
  });

  it('counts failures by user and hour, and none of addresses without a user', async () => {
    const { user } = await api.signIn();
    for (const email of [user.email, user.email, user.email, mails.newEmail()]) {
      await api.stranger().post('/v1/auth/verify-code', { email, code: '000000' });
    }
    const counted = await until('three are counted', async () => {
      const rows = await api.db('failed_sign_ins').where({ user_id: user.id });
      return rows.reduce((sum, { failed }) => sum + failed, 0) >= 3 ? rows : undefined;
    });
    assert.equal(
      counted.reduce((sum, { failed }) => sum + failed, 0),
      3,
    );
    for (const { hour } of counted) assert.equal(hour.getTime() % (60 * MINUTE), 0);
  });

  it('takes the code of the browser that asked, though somebody else has asked for a newer one', async () => {
    const email = mails.newEmail();
    const first = await mails.request(email);
    await mails.ageRequests(email, MINUTE);
    await mails.request(email);
    const answer = await first.client.post('/v1/auth/verify-code', { email, code: first.code });
    assert.equal(answer.status, 200);
  });

  it('refuses an older code elsewhere once a newer one was sent', async () => {
    const email = mails.newEmail();
    const first = await mails.request(email);
    await mails.ageRequests(email, MINUTE);
    const second = await mails.request(email);
    if (first.code !== second.code) {
      const answer = await api.stranger().post('/v1/auth/verify-code', { email, code: first.code });
      assert.equal(answer.status, 401);
    }
    assert.equal(
      (await second.client.post('/v1/auth/verify-code', { email, code: second.code })).status,
      200,
    );
  });
});
