import assert from 'node:assert/strict';
import { Authenticator, type Odds } from '../../support/authenticator.js';
import { ApiClient, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertSessionOf } from '../../support/money/factories.js';
import {
  dashboardUrl,
  faultOf,
  invalid,
  origin,
  PasskeyClient,
  paths,
  type ShownPasskey,
} from './passkey-client.js';

/** By attacks: what a device has made counts, here, once, and for whoever asked for it. */
describe('passkeys that are added', () => {
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

  it('are listed, named anew, and removed; and are told by events, the audit trail and a notice', async () => {
    await page.add(user, device, 'MacBook');
    const [row] = await page.rows(user);
    const listed = ((await user.get(paths.passkeys)).body as unknown as { passkeys: ShownPasskey[] })
      .passkeys;
    assert.deepEqual(listed, [
      {
        ...{ id: row!.id, name: 'MacBook', synced: true, lastUsedAt: null },
        createdAt: row!.created_at.toISOString(),
      },
    ]);
    const renamed = await user.patch(`${paths.passkeys}/${row!.id}`, { name: 'Work laptop' });
    assert.equal((renamed.body as unknown as ShownPasskey).name, 'Work laptop');
    assert.deepEqual((await user.delete(`${paths.passkeys}/${row!.id}`)).body, { ok: true });
    assert.deepEqual((await user.get(paths.passkeys)).body, { passkeys: [] });
    const notices = await api.db('user_notices').where({ user_id: user.user.id });
    assert.deepEqual(
      notices.map(({ kind, facts }) => [kind, facts]),
      [['passkey_added', { passkeyId: row!.id, name: 'MacBook' }]],
    );
    const events = await api.db('event_outbox').where({ user_id: user.user.id, entity_id: row!.id });
    assert.deepEqual(events.map(({ type }) => type).sort(), ['passkey.added', 'passkey.removed']);
    for (const kind of ['passkey_added', 'passkey_removed'] as const) {
      const [event] = await page.audited(user, kind);
      assert.deepEqual([event!.entity_id, event!.client_address], [row!.id, '127.0.0.1']);
    }
  });

  it('keep a public key alone, and name the ones that are there', async () => {
    const held = await page.add(user, device);
    const options = await page.begin(user);
    assert.deepEqual(
      options.excludeCredentials.map(({ id }) => id),
      [held.id.toString('base64url')],
    );
    assert.equal(Buffer.from(options.user.id, 'base64url').toString(), user.user.id);
    const text = JSON.stringify(await page.rows(user));
    const { d = '' } = held.key.export({ format: 'jwk' });
    assert.ok(!text.includes(d) && !text.includes(Buffer.from(d, 'base64url').toString('hex')));
  });

  it('need a fresh sign-in, both at the beginning and at the end', async () => {
    const { credential } = device.create(await page.begin(user));
    await page.makeStale(user);
    assert.deepEqual(faultOf(await user.post(`${paths.passkeys}/begin`)), [403, 'fresh_sign_in_required']);
    const late = await user.post(paths.passkeys, { name: 'x', credential });
    assert.deepEqual(faultOf(late), [403, 'fresh_sign_in_required']);
    assert.deepEqual(await page.rows(user), []);
  });

  it('are renamed and removed without one', async () => {
    await page.add(user, device);
    const [row] = await page.rows(user);
    await page.makeStale(user);
    assert.equal((await user.patch(`${paths.passkeys}/${row!.id}`, { name: 'x' })).status, 200);
    assert.equal((await user.delete(`${paths.passkeys}/${row!.id}`)).status, 200);
  });

  const lies: Readonly<Record<string, Odds>> = {
    'another page': { origin: 'https://gpu.example.com.evil.example' },
    'another port of the host': { origin: `${origin}:8443` },
    'another relying party': { rpId: 'evil.example' },
    'nobody whom the device has verified': { verified: false },
    'nobody who was there': { present: false },
    'a sign-in': { type: 'webauthn.get' },
  };
  for (const [what, odds] of Object.entries(lies)) {
    it(`are refused from ${what}`, async () => {
      const { credential } = device.create(await page.begin(user), odds);
      assert.deepEqual(faultOf(await user.post(paths.passkeys, { name: 'x', credential })), invalid);
      assert.deepEqual(await page.rows(user), []);
    });
  }

  it('are refused for a challenge that is another session’s, used, late, of a sign-in or made up', async () => {
    const other = new ApiClient(api.url, await insertSessionOf(api.db, user.user.id));
    const stranger = await api.signIn();
    const stolen = [await page.begin(other), await page.begin(stranger)];
    const options = await page.begin(user);
    const used = device.create(options);
    assert.equal((await user.post(paths.passkeys, { name: 'one', credential: used.credential })).status, 200);
    const again = device.create(options);
    const ofSignIn = await page.beginSignIn(api.stranger());
    const ofProof = await page.beginProof(user);
    const challenges = [
      ...stolen.map(({ challenge }) => challenge),
      ...[ofSignIn.challenge, ofProof.challenge, 'AAAA'],
    ];
    const made = challenges.map((challenge) => device.create({ ...options, challenge }));
    for (const { credential } of [again, ...made]) {
      assert.deepEqual(faultOf(await user.post(paths.passkeys, { name: 'x', credential })), invalid);
    }
    const late = device.create(await page.begin(user));
    await page.expire();
    assert.deepEqual(
      faultOf(await user.post(paths.passkeys, { name: 'x', credential: late.credential })),
      invalid,
    );
    assert.equal((await page.rows(user)).length, 1);
  });

  it('are one user’s alone', async () => {
    const stranger = await api.signIn();
    const held = await page.add(stranger, device);
    const { credential } = device.create(await page.begin(user));
    // The same credential once more: its own answer for this challenge, under the id of the other.
    await page.rows(stranger).update({ credential_id: Buffer.from(credential.id, 'base64url') });
    assert.deepEqual(faultOf(await user.post(paths.passkeys, { name: 'x', credential })), [
      400,
      'duplicate_passkey',
    ]);
    const [theirs] = await page.rows(stranger);
    for (const answer of [
      await user.patch(`${paths.passkeys}/${theirs!.id}`, { name: 'x' }),
      await user.delete(`${paths.passkeys}/${theirs!.id}`),
      await user.delete(`${paths.passkeys}/psk_1`),
    ]) {
      assert.deepEqual(faultOf(answer), [404, 'passkey_not_found']);
    }
    assert.ok(held.key);
  });

  it('are twenty at most, also of those that come at once', async () => {
    for (let n = 0; n < 18; n += 1) await page.add(user, device, `key ${n}`);
    const made = [];
    for (let n = 0; n < 5; n += 1) made.push(device.create(await page.begin(user)));
    const answers = await Promise.all(
      made.map(({ credential }) => user.post(paths.passkeys, { name: 'more', credential })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 400, 400, 400]);
    const refused = answers.find(({ status }) => status === 400);
    assert.deepEqual(
      [refused!.body.error, refused!.body.details],
      ['too_many_passkeys', { maxPasskeys: 20 }],
    );
    assert.deepEqual(faultOf(await user.post(`${paths.passkeys}/begin`)), [400, 'too_many_passkeys']);
    assert.equal((await page.rows(user)).length, 20);
  });

  it('are no matter of API keys', async () => {
    const { body } = await user.post('/v1/api-keys', {
      name: 'all',
      scopes: ['read', 'rentals', 'billing', 'setup'],
    });
    const program = api.withKey((body as unknown as { key: string }).key);
    for (const answer of [
      await program.get(paths.passkeys),
      await program.post(`${paths.passkeys}/begin`),
      await program.post(`${paths.proof}/begin`),
    ]) {
      assert.deepEqual(faultOf(answer), [403, 'session_required']);
    }
  });
});
