import assert from 'node:assert/strict';
import type { Answer } from '../../support/http/answers.js';
import { ApiClient, startApi, type TestApi } from '../../support/http/api.js';
import { CodeMails } from './code-mails.js';

const MINUTE = 60_000;

describe('POST /v1/auth/request-code (decision 84)', () => {
  let api: TestApi;
  let mails: CodeMails;

  before(async () => {
    api = await startApi();
    mails = new CodeMails(api);
  });
  after(() => api.stop());

  describe('of others than the one that asked before', () => {
    let behind: TestApi;
    before(async () => {
      behind = await startApi({ settings: { trustProxy: true }, databaseUrl: api.databaseUrl });
    });
    after(() => behind.stop());

    let clients = 0;
    /** Requests a code for an address; default: in a new browser. */
    function ask(email: string, client = behind.stranger()): Promise<Answer> {
      clients += 1;
      const from = { 'X-Forwarded-For': `198.51.100.${clients}` };
      return client.post('/v1/auth/request-code', { email }, from);
    }
    const mailsTo = async (...recipients: string[]): Promise<number> =>
      (await api.db('mail_outbox').whereIn('recipient', recipients)).length;

    it('tells nothing of whether the address asked a moment ago, and mails once', async () => {
      const [asked, fresh] = [mails.newEmail(), mails.newEmail()];
      await ask(asked);
      const [one, other] = [await ask(asked), await ask(fresh)];
      for (const answer of [one, other]) assert.deepEqual([answer.status, answer.body], [200, { ok: true }]);
      const shapeOf = ({ headers }: Answer): string[] =>
        [...headers].map(([name, value]) => (name === 'set-cookie' ? value.replace(/=[^;]*/, '') : name));
      assert.deepEqual(shapeOf(one), shapeOf(other));
      assert.deepEqual([await mailsTo(asked), await mailsTo(fresh)], [1, 1]);
    });

    it('is counted for their own limit all the same, so that it can’t be told from that', async () => {
      const strict = await startApi({
        settings: { codeRequestsPerClientPerHour: 2 },
        databaseUrl: api.databaseUrl,
      });
      try {
        const email = mails.newEmail();
        await ask(email);
        await api.db('login_codes').update({ client_address: 'elsewhere' });
        const statuses = [];
        for (const address of [email, mails.newEmail(), mails.newEmail()]) {
          statuses.push((await strict.stranger().post('/v1/auth/request-code', { email: address })).status);
        }
        assert.deepEqual(statuses, [200, 200, 429]);
        assert.equal(await mailsTo(email), 1);
      } finally {
        await strict.stop();
      }
    });

    it('tells a browser of its own request, wherever it has moved', async () => {
      const email = mails.newEmail();
      const client = behind.stranger();
      await ask(email, client);
      const again = await ask(email, client);
      assert.deepEqual([again.status, again.body.error], [429, 'code_request_rate_limited']);
    });

    it('mails one mailbox 5 times an hour, whatever tags and, at Gmail, dots its addresses have', async () => {
      for (const addresses of [
        [1, 2, 3, 4, 5, 6, 7].map((nth) => `tagged+${nth}@example.com`),
        [
          ...['dot.ted@gmail.com', 'dotted@gmail.com', 'd.otted+a@googlemail.com', 'DOTTED+b@gmail.com'],
          ...['dotted+c@gmail.com', 'dotted+d@gmail.com', 'd.o.t.t.e.d@gmail.com'],
        ],
      ]) {
        for (const address of addresses) {
          assert.equal((await ask(address)).status, 200);
          await mails.age(address.toLowerCase(), MINUTE);
        }
        assert.equal(await mailsTo(...addresses.map((address) => address.toLowerCase())), 5);
      }
      for (const other of ['dot.ted@example.com', 'dotted@example.com', '+x@example.com', '+y@example.com']) {
        await ask(other);
        assert.equal(await mailsTo(other), 1, `${other} is a mailbox of its own`);
      }
    });

    it('leaves a browser in which the address has signed in before a share of its own, which nobody uses up', async () => {
      const email = mails.newEmail();
      const { client, code } = await mails.request(email);
      await client.post('/v1/auth/verify-code', { email, code });
      await mails.age(email, 25 * 60 * MINUTE);
      for (let count = 0; count < 8; count += 1) {
        await ask(email);
        await mails.age(email, MINUTE);
      }
      assert.equal(await mailsTo(email), 1 + 5);
      const known = new ApiClient(behind.url);
      known.browser = client.browser;
      assert.equal((await ask(email, known)).status, 200);
      assert.equal(await mailsTo(email), 1 + 5 + 1);
      for (let count = 0; count < 4; count += 1) {
        await mails.age(email, MINUTE);
        assert.equal((await ask(email, known)).status, 200);
      }
      await mails.age(email, MINUTE);
      assert.equal((await ask(email, known)).status, 429, 'it has an end as well');
    });

    it('believes no mark of a browser that is made up, or another address’s', async () => {
      const [email, other] = [mails.newEmail(), mails.newEmail()];
      const { client, code } = await mails.request(email);
      await client.post('/v1/auth/verify-code', { email, code });
      const [token] = client.browser!.split('.');
      for (const browser of [client.browser, `${token}.${'A'.repeat(43)}`]) {
        const forger = behind.stranger();
        forger.browser = browser;
        await ask(other, forger);
      }
      const rows = await api.db('login_codes').where({ email: other });
      assert.deepEqual(
        rows.map((row) => row.asked_by),
        ['anybody'],
      );
    });
  });
});
