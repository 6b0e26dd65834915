import assert from 'node:assert/strict';
import { Authenticator } from '../support/authenticator.js';
import { until } from '../support/until.js';
import { ContractClient } from './through-client.js';
import { signIn, signInAgain, type Backend, type Person } from './backends.js';

interface Sessions {
  readonly sessions: readonly {
    readonly id: string;
    readonly isCurrent: boolean;
    readonly device: string | null;
    readonly address: string | null;
  }[];
}

interface Proof {
  readonly codeMailed: boolean;
  readonly freshUntil: string | null;
}

interface NoticeSettings {
  readonly notices: readonly {
    readonly kind: string;
    readonly on: boolean;
    readonly canSwitchOff: boolean;
  }[];
}

/** Signing in and out, SSH keys, and the catalog. */
export function describeAccounts(backend: () => Backend): void {
  describe('signing in', () => {
    it('makes the account at the first time, and finds it again', async () => {
      const person = await signIn(backend());
      const me = await person.get('/v1/auth/me');
      assert.deepEqual([me.status, me.body.user], [200, person.user]);
      assert.deepEqual((await person.get('/v1/billing/balance')).body.totalCents, 0);
    });

    it('is possible by a code alone when no other way is set up', async () => {
      const { status, body } = await new ContractClient(backend().url).get('/v1/auth/providers');
      assert.deepEqual([status, body], [200, { providers: [] }]);
    });

    it('ends the session that the browser came with', async () => {
      const { user, sid } = await signIn(backend());
      const next = await signIn(backend(), new ContractClient(backend().url, sid));
      assert.notEqual(next.user.id, user.id);
      assert.deepEqual((await next.get('/v1/auth/me')).body.user, next.user);
      const late = await new ContractClient(backend().url, sid).get('/v1/auth/me');
      assert.deepEqual([late.status, late.body.error], [401, 'unauthorized']);
    });

    it('ends with this session’s logout alone', async () => {
      const person = await signIn(backend());
      const token = person.sid;
      const logout = await person.post('/v1/auth/logout');
      assert.deepEqual([logout.status, logout.body.ok, person.sid], [200, true, undefined]);
      const late = await new ContractClient(backend().url, token).get('/v1/auth/me');
      assert.deepEqual([late.status, late.body.error], [401, 'unauthorized']);
    });
  });

  describe('exporting an account', () => {
    it('gives one archive to a session', async () => {
      const person = await signIn(backend());
      const { status, headers, body } = await person.get('/v1/account/export');
      assert.deepEqual([status, headers.get('content-type')], [200, 'application/zip']);
      assert.match(body as unknown as string, /^PK[^]*README\.txt[^]*ledger\.csv[^]*audit\.jsonl/);
      const { events } = (await person.get('/v1/audit')).body as unknown as { events: { kind: string }[] };
      assert.equal(events[0]?.kind, 'account_exported');
    });
  });

  describe('sessions', () => {
    let person: Person;
    let other: ContractClient;
    before(async () => {
      person = await signIn(backend());
      other = await signInAgain(backend(), person);
    });
    const list = async (client: ContractClient = person) =>
      ((await client.get('/v1/auth/sessions')).body as unknown as Sessions).sessions;

    it('are listed, and end one by one', async () => {
      const [newest, first] = await list();
      assert.deepEqual([newest?.isCurrent, first?.isCurrent], [false, true]);
      assert.deepEqual([newest?.device, newest?.address], ['node', '127.0.0.1']);
      const { body } = await person.get('/v1/auth/sessions?pageSize=1');
      const next = await person.get(`/v1/auth/sessions?cursor=${body.nextCursor!}`);
      assert.deepEqual(
        (next.body as unknown as Sessions).sessions.map(({ id }) => id),
        [first?.id],
      );
      assert.equal((await person.delete(`/v1/auth/sessions/${newest!.id}`)).body.ok, true);
      assert.equal((await other.get('/v1/auth/me')).body.error, 'unauthorized');
      const again = await person.delete(`/v1/auth/sessions/${newest!.id}`);
      assert.deepEqual([again.status, again.body.error], [404, 'session_not_found']);
    });

    it('go on after a page whose last session has ended since', async () => {
      const middle = await signInAgain(backend(), person);
      await signInAgain(backend(), person);
      const all = await list();
      const { body } = await person.get('/v1/auth/sessions?pageSize=2');
      await middle.post('/v1/auth/logout');
      const next = await person.get(`/v1/auth/sessions?cursor=${body.nextCursor!}`);
      const left = (next.body as unknown as Sessions).sessions;
      assert.deepEqual([left.map(({ id }) => id), left[0]?.isCurrent], [[all[2]?.id], true]);
      assert.deepEqual((await person.post('/v1/auth/sessions/end-others')).body, { ended: 1 });
    });

    it('end all but one', async () => {
      const third = await signInAgain(backend(), person);
      assert.deepEqual((await person.post('/v1/auth/sessions/end-others')).body, { ended: 1 });
      assert.equal((await third.get('/v1/auth/me')).status, 401);
      assert.equal((await list()).length, 1);
      const { body } = await person.get('/v1/audit?kind=signed_out&pageSize=1');
      const { events } = body as unknown as { events: { details: unknown }[] };
      assert.deepEqual(events[0]?.details, { by: 'other_session', sessions: 1 });
    });

    it('show anew whose they are by a mailed code, and get another cookie, at the same place', async () => {
      const newer = await signInAgain(backend(), person);
      const former = person.sid;
      const asked = (await person.post('/v1/auth/refresh-proof', {})).body as unknown as Proof;
      assert.equal(asked.codeMailed, true);
      const code = await backend().readCode(person.user.email);
      const proved = await person.post('/v1/auth/refresh-proof', { code });
      const { codeMailed, freshUntil } = proved.body as unknown as Proof;
      assert.deepEqual([proved.status, codeMailed], [200, false]);
      assert.ok(Date.parse(freshUntil ?? '') > Date.now());
      assert.notEqual(person.sid, former);
      assert.equal((await new ContractClient(backend().url, former).get('/v1/auth/me')).status, 401);
      const { body } = await person.get('/v1/audit?kind=proof_refreshed');
      assert.equal((body as unknown as { events: unknown[] }).events.length, 1);
      assert.deepEqual(
        (await list()).map(({ isCurrent }) => isCurrent),
        [false, true],
      );
      await newer.post('/v1/auth/logout');
    });

    it('end themselves as a logout does', async () => {
      const [own] = await list();
      assert.equal((await person.delete(`/v1/auth/sessions/${own!.id}`)).status, 200);
      assert.equal(person.sid, undefined);
    });
  });

  describe('passkeys', () => {
    it('are added, named, sign in, show anew whose a session is, and are removed', async () => {
      const person = await signIn(backend());
      const device = new Authenticator(new URL(backend().dashboardUrl).origin, { counts: true });
      const begin = async <T>(client: ContractClient, path: string) =>
        (await client.post(`/v1/auth/${path}/begin`)).body as unknown as T;
      const path = '/v1/auth/passkeys';
      const made = device.create(await begin(person, 'passkeys'));
      const added = await person.post(path, { name: 'Key', credential: made.credential });
      const { id } = added.body as unknown as { id: string };
      const renamed = await person.patch(`${path}/${id}`, { name: 'Key ring' });
      assert.deepEqual((await person.get(path)).body, {
        passkeys: [{ ...(added.body as object), name: 'Key ring' }],
      });
      assert.equal((renamed.body as unknown as { name: string }).name, 'Key ring');
      const twice = await person.post(path, { name: 'again', credential: made.credential });
      assert.deepEqual([twice.status, twice.body.error], [401, 'passkey_invalid']);

      const browser = new ContractClient(backend().url);
      const show = async (client: ContractClient, what: string, odds = {}) =>
        client.post(`/v1/auth/${what}`, {
          credential: device.get(made.held, await begin(client, what), odds),
        });
      assert.equal(
        (await show(browser, 'passkey-sign-in', { verified: false })).body.error,
        'passkey_invalid',
      );
      assert.equal((await show(browser, 'passkey-sign-in', { counter: 1 })).body.error, 'passkey_invalid');
      const there = await show(browser, 'passkey-sign-in');
      assert.deepEqual([there.status, there.body.user], [200, person.user]);
      const proved = (await show(browser, 'passkey-proof')).body as unknown as { freshUntil: string };
      assert.ok(Date.parse(proved.freshUntil) > Date.now());
      assert.equal((await person.delete(`${path}/${id}`)).status, 200);
      assert.equal((await person.delete(`${path}/${id}`)).body.error, 'passkey_not_found');
      assert.equal((await person.patch(`${path}/${id}`, { name: 'x' })).body.error, 'passkey_not_found');
      assert.equal((await show(browser, 'passkey-sign-in')).body.error, 'passkey_invalid');
      const none = await person.post('/v1/auth/passkey-proof/begin');
      assert.deepEqual([none.status, none.body.error], [404, 'passkey_not_found']);
    });
  });

  describe('SSH keys', () => {
    let person: Person;
    before(async () => {
      person = await signIn(backend());
    });

    it('are generated, listed, refused twice, and removed', async () => {
      const made = await person.post('/v1/ssh-keys', { name: 'laptop', generate: true });
      assert.match(made.body.privateKey, /^-----BEGIN EC PRIVATE KEY-----/);
      const { id, publicKey, fingerprint } = made.body;
      const [listed] = (await person.get('/v1/ssh-keys')).body.sshKeys;
      assert.deepEqual([listed?.id, listed?.fingerprint], [id, fingerprint]);
      const again = await person.post('/v1/ssh-keys', { name: 'again', publicKey });
      assert.deepEqual([again.status, again.body.error], [400, 'duplicate_key']);
      assert.equal((await person.delete(`/v1/ssh-keys/${id}`)).status, 200);
      assert.deepEqual((await person.get('/v1/ssh-keys')).body.sshKeys, []);
      assert.equal((await person.delete(`/v1/ssh-keys/${id}`)).body.error, 'key_not_found');
    });
  });

  describe('notices', () => {
    it('are all on, can be switched off but for money and keys, and say so on read', async () => {
      const person = await signIn(backend());
      const read = async () => (await person.get('/v1/notices')).body as unknown as NoticeSettings;
      const kindsOf = ({ notices }: NoticeSettings, on: boolean) =>
        notices.filter((notice) => notice.on === on).map(({ kind }) => kind);
      const fresh = await read();
      assert.deepEqual(kindsOf(fresh, false), []);
      const optional = fresh.notices.filter(({ canSwitchOff }) => canSwitchOff).map(({ kind }) => kind);
      const kinds = Object.fromEntries(optional.map((kind) => [kind, false]));
      const { status, body } = await person.put('/v1/notices', { kinds });
      assert.deepEqual([status, body], [200, await read()]);
      assert.deepEqual(kindsOf(await read(), false), optional);
      assert.ok(!optional.includes('low_balance') && !optional.includes('ssh_key_added'));
      const { body: trail } = await person.get('/v1/audit?kind=notices_changed');
      const [change] = (trail as unknown as { events: { details: unknown }[] }).events;
      assert.deepEqual(change?.details, kinds);
    });

    it('are not changed by a link that nobody signed', async () => {
      const client = new ContractClient(backend().url);
      for (const method of ['GET', 'POST']) {
        const path = '/v1/notices/unsubscribe?token=usr_01JZ8Q4M6T3V5X7Y9A1B2C3D4E.rental_lost.1.x';
        const { status, headers } = await client.send(method, path, undefined, {});
        assert.deepEqual([status, headers.get('content-type')], [404, 'text/html; charset=utf-8']);
      }
    });
  });

  describe('the catalog', () => {
    let person: Person;
    before(async () => {
      person = await signIn(backend());
    });

    it('tells in a word that the listings are what a reader has', async () => {
      const path = '/v1/catalog/listings?gpuCount=1';
      const first = await person.get(path);
      const etag = first.headers.get('etag')!;
      assert.match(etag, /^W\/"[\w-]{22}"$/);
      assert.equal(first.headers.get('cache-control'), 'private, no-cache');
      const again = await person.get(path, { 'If-None-Match': etag });
      assert.deepEqual([again.status, again.body], [304, '']);
      assert.equal(again.headers.get('etag'), etag);
      const other = await person.get('/v1/catalog/listings?gpuCount=8', { 'If-None-Match': etag });
      assert.equal(other.status, 200, 'each page has its own');
    });

    it('pages through all listings, cheapest first, without repeating any', async () => {
      const all = (await person.get('/v1/catalog/listings?pageSize=200')).body.listings;
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { body } = await person.get(`/v1/catalog/listings?pageSize=7${query}`);
        seen.push(...body.listings.map(({ id }) => id));
        cursor = body.nextCursor;
      }
      assert.deepEqual(
        seen,
        all.map(({ id }) => id),
      );
      const prices = all.map(({ pricePerHourCents }) => pricePerHourCents);
      assert.deepEqual(
        prices,
        prices.toSorted((a, b) => a - b),
      );
      assert.ok(new Set(all.map(({ family }) => family)).size >= 6);
    });

    for (const [filter, prices] of [
      ['model=B200&gpuCount=8', [3_992]],
      ['familyId=b200&gpuCount=8', [3_992]],
      ['familyId=abacus', []],
      ['model=RTX_4090&maxPricePerHourCents=100', [40, 69]],
      ['model=L40S&region=eu', [155, 623]],
      ['model=H100_SXM_80GB&region=us&gpuCount=1', [329]],
      ['minVramGb=180&gpuCount=1', [490, 799]],
      ['region=is', []],
    ] as const) {
      it(`filters by ${filter}`, async () => {
        const { body } = await person.get(`/v1/catalog/listings?${filter}`);
        assert.deepEqual(
          body.listings.map(({ pricePerHourCents }) => pricePerHourCents),
          prices,
        );
      });
    }

    it('tells families and templates', async () => {
      const { families } = (await person.get('/v1/catalog/families')).body as unknown as {
        families: { family: string; fromPricePerHourCents: number | null; liveCount: number }[];
      };
      const b200 = families.find(({ family }) => family === 'b200');
      assert.deepEqual([b200?.fromPricePerHourCents, b200?.liveCount], [490, 3]);
      const { templates } = (await person.get('/v1/catalog/templates')).body;
      assert.equal(templates.find(({ isDefault }) => isDefault)?.id, 'ubuntu-24-04');
    });

    it('tells what a family cost, up to the present hour', async () => {
      type Point = { at: string; lowestPricePerHourCents: number | null; available: number };
      const read = async (query: string) => {
        const { body } = await person.get(`/v1/catalog/families/b200/history${query}`);
        const { familyId, points } = body as unknown as { familyId: string; points: Point[] };
        assert.equal(familyId, 'b200');
        return points;
      };
      const points = await until('an hour was recorded', async () => {
        const told = await read('');
        return told.length > 0 && told;
      });
      const { lowestPricePerHourCents, available } = points.at(-1)!;
      assert.deepEqual([lowestPricePerHourCents, available], [490, 3]);
      const hours = points.map(({ at }) => at);
      assert.deepEqual(hours, [...new Set(hours)].toSorted());
      assert.ok(hours.every((at) => at.endsWith(':00:00.000Z')));
      const nowhere = (await read('?region=is')).at(-1);
      assert.deepEqual([nowhere?.lowestPricePerHourCents, nowhere?.available], [null, 0]);
    });
  });
}
