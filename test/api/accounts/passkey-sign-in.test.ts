import assert from 'node:assert/strict';
import { accountLimits } from '../../../domain/accounts/limits.js';
import { Authenticator, type HeldPasskey, type Odds } from '../../support/authenticator.js';
import type { Answer } from '../../support/http/answers.js';
import { ApiClient, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertSessionOf } from '../../support/money/factories.js';
import { until } from '../../support/until.js';
import { suspendPasskeys } from '../../../adapters/postgres/accounts/passkeys.js';
import { CodeMails } from './code-mails.js';
import { dashboardUrl, faultOf, invalid, origin, PasskeyClient, paths } from './passkey-client.js';

/** By attacks: what is signed counts, and only once, here, and by the person. */
describe('passkeys', () => {
  let api: TestApi;
  let page: PasskeyClient;
  let user: SignedIn;
  let device: Authenticator;
  before(async () => {
    api = await startApi({ settings: { dashboardUrl } });
    page = new PasskeyClient(api);
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await api.signIn();
    device = new Authenticator(origin);
  });

  describe('that sign in', () => {
    let held: HeldPasskey;
    beforeEach(async () => {
      held = await page.add(user, device);
    });

    it('name their user themselves, and make a session that is fresh', async () => {
      const { client, answer } = await page.signIn(device, held);
      const { email, id } = user.user;
      assert.equal(answer.status, 200);
      const { user: who, created } = answer.body as unknown as { user: { id: string }; created: boolean };
      assert.deepEqual([who.id, created], [id, false]);
      const me = (await client.get('/v1/auth/me')).body as unknown as { freshUntil: string; user: object };
      assert.ok(Date.parse(me.freshUntil) > Date.now());
      assert.equal((me.user as { email: string }).email, email);
      const [row] = await page.rows(user);
      assert.ok(row!.last_used_at !== null);
      const [event] = await page.audited(user, 'signed_in');
      assert.deepEqual(event!.details, { by: 'passkey' });
      // The browser is known from now on, as after a code.
      assert.match(client.browser ?? '', /\./);
    });

    it('end the session that the browser came with', async () => {
      const client = api.stranger();
      const before = await api.signIn();
      const credential = device.get(held, await page.beginSignIn(client));
      client.sid = before.sid ?? '';
      assert.equal((await client.post(paths.signIn, { credential })).status, 200);
      assert.equal((await before.get('/v1/auth/me')).status, 401);
    });

    it('wake the keys that were suspended, and sign a blocked user in, as codes do', async () => {
      await api
        .db('users')
        .where({ id: user.user.id })
        .update({ blocked_at: new Date(), blocked_reason: 'x' });
      await user.post('/v1/api-keys', { name: 'nightly', scopes: ['read'] });
      await api.db('api_keys').where({ user_id: user.user.id }).update({ suspended_at: new Date() });
      assert.equal((await page.signIn(device, held)).answer.status, 200);
      const [key] = await api.db('api_keys').where({ user_id: user.user.id });
      assert.equal(key!.suspended_at, null);
    });

    const lies: Readonly<Record<string, Odds>> = {
      'another page': { origin: 'https://evil.example' },
      'another relying party': { rpId: 'evil.example' },
      'nobody whom the device has verified': { verified: false },
      'nobody who was there': { present: false },
      'the making of a passkey': { type: 'webauthn.create' },
      'one who does not say whose it is': { userHandle: null },
      'one who says that it is another’s': { userHandle: Buffer.from('usr_1').toString('base64url') },
      'a made-up challenge': { challenge: 'AAAA' },
    };
    for (const [what, odds] of Object.entries(lies)) {
      it(`are refused from ${what}`, async () => {
        const { client, answer } = await page.signIn(device, held, odds);
        assert.deepEqual([...faultOf(answer), client.sid], [...invalid, undefined]);
      });
    }

    it('get the same answer when nobody has them, another key signed, or they were removed', async () => {
      const known = (await page.signIn(device, { ...held, key: (await page.add(user, device, 'other')).key }))
        .answer;
      const unknown = (await page.signIn(device, { ...held, id: Buffer.from('nobody has this') })).answer;
      const [row] = await page.rows(user);
      await user.delete(`${paths.passkeys}/${row!.id}`);
      const removed = (await page.signIn(device, held)).answer;
      const told = ({ status, body: { error, message, details } }: Answer) => [
        status,
        error,
        message,
        details,
      ];
      assert.deepEqual(faultOf(known), invalid);
      assert.deepEqual([told(unknown), told(removed)], [told(known), told(known)]);
    });

    it('rest in a restored database until their user signs in by another way', async () => {
      await api.db.transaction((trx) => suspendPasskeys(trx));
      assert.deepEqual(faultOf((await page.signIn(device, held)).answer), invalid);
      assert.deepEqual(faultOf(await page.prove(user, device, held)), invalid);
      await new CodeMails(api).signIn(user.user.email);
      assert.equal((await page.signIn(device, held)).answer.status, 200);
    });

    it('count as failed sign-ins of their user', async () => {
      await page.signIn(device, held, { verified: false });
      await until('the failed sign-in is counted', async () => {
        const [counted] = await api.db('failed_sign_ins').where({ user_id: user.user.id });
        return counted?.failed === 1;
      });
    });

    it('are good in the browser that began alone, once, and for five minutes', async () => {
      const client = api.stranger();
      const options = await page.beginSignIn(client);
      const elsewhere = api.stranger();
      await page.beginSignIn(elsewhere);
      for (const thief of [elsewhere, api.stranger()]) {
        const stolen = await thief.post(paths.signIn, { credential: device.get(held, options) });
        assert.deepEqual(faultOf(stolen), invalid);
      }
      const credential = device.get(held, options);
      const { browser } = client;
      assert.equal((await client.post(paths.signIn, { credential })).status, 200);
      client.browser = browser;
      assert.deepEqual(faultOf(await client.post(paths.signIn, { credential })), invalid);
      const slow = api.stranger();
      const late = device.get(held, await page.beginSignIn(slow));
      await page.expire();
      assert.deepEqual(faultOf(await slow.post(paths.signIn, { credential: late })), invalid);
    });

    it('are good once, also when many answers come at once', async () => {
      const client = api.stranger();
      const credential = device.get(held, await page.beginSignIn(client));
      const twins = Array.from({ length: 6 }, () =>
        Object.assign(api.stranger(), { browser: client.browser }),
      );
      const answers = await Promise.all(twins.map((twin) => twin.post(paths.signIn, { credential })));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401, 401]);
      const sessions = await api.db('sessions').where({ user_id: user.user.id });
      assert.equal(sessions.length, 2);
    });

    it('leave the sessions alone that they opened when they are removed', async () => {
      const { client } = await page.signIn(device, held);
      const [row] = await page.rows(user);
      await user.delete(`${paths.passkeys}/${row!.id}`);
      assert.equal((await client.get('/v1/auth/me')).status, 200);
    });

    it('are begun so often from one address', async () => {
      const strict = await startApi({ databaseUrl: api.databaseUrl, settings: { trustProxy: true } });
      try {
        const client = new ApiClient(strict.url);
        const from = (address: string) =>
          client.post(`${paths.signIn}/begin`, undefined, { 'X-Forwarded-For': address });
        for (let n = 0; n < accountLimits.passkeySignInsPerClientPerHour; n += 1)
          assert.equal((await from('203.0.113.9')).status, 200);
        const refused = await from('203.0.113.9');
        assert.deepEqual(faultOf(refused), [429, 'rate_limited']);
        assert.match(refused.body.message, /code that we email you/);
        assert.equal((await from('203.0.113.10')).status, 200);
      } finally {
        await strict.stop();
      }
    });
  });

  describe('that count', () => {
    let held: HeldPasskey;
    beforeEach(async () => {
      device = new Authenticator(origin, { counts: true });
      held = await page.add(user, device, 'Key ring');
    });
    const counter = async () => (await page.rows(user))[0]!.counter;

    it('go on by each use', async () => {
      assert.equal((await page.signIn(device, held)).answer.status, 200);
      assert.equal(await counter(), device.counter);
      assert.equal((await page.prove(user, device, held)).status, 200);
      assert.equal(await counter(), device.counter);
    });

    for (const [what, back] of [
      ['less', 4],
      ['the same', 5],
      ['nothing', 0],
    ] as const) {
      it(`are refused when they count ${what}, and their user is told`, async () => {
        device.counter = 4;
        assert.equal((await page.signIn(device, held)).answer.status, 200);
        for (let n = 0; n < 2; n += 1) {
          assert.deepEqual(faultOf((await page.signIn(device, held, { counter: back })).answer), invalid);
        }
        assert.equal(await counter(), 5);
        const [row] = await page.rows(user);
        const notices = await api
          .db('user_notices')
          .where({ user_id: user.user.id, kind: 'passkey_refused' });
        assert.deepEqual(
          notices.map(({ facts }) => facts),
          [{ passkeyId: row!.id, name: 'Key ring' }],
        );
        assert.deepEqual(
          (await page.audited(user, 'passkey_refused')).map(({ details }) => details),
          [...[1, 2].map(() => ({ passkeyId: row!.id, counter: back, before: 5 }))],
        );
      });
    }
  });

  describe('that prove anew who somebody is', () => {
    let held: HeldPasskey;
    beforeEach(async () => {
      held = await page.add(user, device);
      await page.makeStale(user);
    });

    it('make the session fresh, and give it another cookie', async () => {
      const thief = new ApiClient(api.url, user.sid);
      const answer = await page.prove(user, device, held);
      assert.equal(answer.status, 200);
      assert.ok(
        Date.parse((answer.body as unknown as { freshUntil: string }).freshUntil) > Date.now() + 14 * 60_000,
      );
      assert.notEqual(user.sid, thief.sid);
      assert.equal((await thief.get('/v1/auth/me')).status, 401);
      assert.equal((await user.post(`${paths.passkeys}/begin`)).status, 200);
      const [row] = await page.rows(user);
      const [event] = await page.audited(user, 'proof_refreshed');
      assert.equal((event!.details as { passkeyId: string }).passkeyId, row!.id);
    });

    it('are one of the user’s own', async () => {
      const options = await page.beginProof(user);
      assert.deepEqual(
        options.allowCredentials.map(({ id }) => id),
        [held.id.toString('base64url')],
      );
      const stranger = await api.signIn();
      const theirs = await page.add(stranger, device);
      const credential = device.get(theirs, options);
      assert.deepEqual(faultOf(await user.post(paths.proof, { credential })), invalid);
      // An authenticator need not say whose a passkey is that it was asked for.
      assert.equal((await page.prove(user, device, held, { userHandle: null })).status, 200);
    });

    it('are refused without a person whom the device has verified', async () => {
      assert.deepEqual(faultOf(await page.prove(user, device, held, { verified: false })), invalid);
      assert.deepEqual(faultOf(await user.post(`${paths.passkeys}/begin`)), [403, 'fresh_sign_in_required']);
    });

    it('are refused for a challenge of a sign-in, or of another session', async () => {
      const other = new ApiClient(api.url, await insertSessionOf(api.db, user.user.id));
      for (const options of [await page.beginSignIn(user), await page.beginProof(other)]) {
        const credential = device.get(held, options);
        assert.deepEqual(faultOf(await user.post(paths.proof, { credential })), invalid);
      }
    });

    it('are good once, also when many answers come at once', async () => {
      const credential = device.get(held, await page.beginProof(user));
      const twins = Array.from({ length: 5 }, () => new ApiClient(api.url, user.sid));
      const answers = await Promise.all(twins.map((twin) => twin.post(paths.proof, { credential })));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401]);
    });

    it('need one to be there', async () => {
      const stranger = await api.signIn();
      assert.deepEqual(faultOf(await stranger.post(`${paths.proof}/begin`)), [404, 'passkey_not_found']);
    });
  });
});
