import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createExactCount, createLeasedCount } from '../../../adapters/postgres/requests/request-counts.js';
import { newId } from '../../../adapters/ids.js';
import { openDatabase } from '../../../adapters/postgres/database.js';
import type { ApiSettings } from '../../../api/settings.js';
import type { Answer } from '../../support/http/answers.js';
import { ApiClient, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertApiKeyOf, insertSessionOf } from '../../support/money/factories.js';

interface Told {
  readonly policy: string;
  readonly left: number;
  readonly resetSeconds: number;
}

/** Parses `"changes";r=2;t=58, …` into its parts. */
function standingsIn({ headers }: Answer): Told[] {
  return (headers.get('ratelimit') ?? '').split(', ').map((text) => {
    const [, policy = '', left, reset] = /^"([\w-]+)";r=(\d+);t=(\d+)$/.exec(text) ?? [];
    return { policy, left: Number(left), resetSeconds: Number(reset) };
  });
}

/** The nearest limit. */
const standingIn = (answer: Answer): Told => standingsIn(answer)[0]!;

describe('the limits of requests (decisions 12 and 58)', () => {
  const settings: Partial<ApiSettings> = {
    ...{ readsPerMinute: 40, readsPerMinuteOfUser: 100, changesPerMinute: 5, strangersPerMinute: 6 },
  };
  let api: TestApi;
  let twin: TestApi;
  let user: SignedIn;

  before(async () => {
    // The API is behind a proxy, so that a test can be a client with an address of its own.
    api = await startApi({ settings: { ...settings, trustProxy: true } });
    twin = await startApi({ settings, databaseUrl: api.databaseUrl });
  });
  after(async () => {
    await twin.stop();
    await api.stop();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });

  const anotherSession = async (): Promise<ApiClient> =>
    new ApiClient(api.url, await insertSessionOf(api.db, user.user.id));
  const change = (client: ApiClient): Promise<Answer> => client.post('/v1/ssh-keys', { name: 'x' });
  const countOf = (answers: Answer[], status: number): number =>
    answers.filter((answer) => answer.status === status).length;

  it('are told on each answer under /v1, refusals too, reads and changes apart', async () => {
    const read = await user.get('/v1/rentals');
    assert.equal(read.headers.get('ratelimit-policy'), '"reads";q=40;w=60, "reads-user";q=100;w=60');
    assert.deepEqual([standingIn(read).policy, standingIn(read).left], ['reads', 39]);
    const refused = await change(user);
    assert.equal(refused.status, 400);
    assert.equal(refused.headers.get('ratelimit-policy'), '"changes";q=5;w=60');
    assert.deepEqual([standingIn(refused).policy, standingIn(refused).left], ['changes', 4]);
    assert.equal(standingIn(await user.get('/v1/rentals/none')).left, 38);
    assert.equal(
      (await user.get('/v1/nothing')).headers.get('ratelimit'),
      null,
      'what nothing answers costs nothing',
    );
    const { resetSeconds } = standingIn(refused);
    assert.ok(resetSeconds > 50 && resetSeconds <= 60, String(resetSeconds));
  });

  it('let a user make no more changes with many sessions than with one', async () => {
    const others = await Promise.all([1, 2, 3].map(() => anotherSession()));
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, nth) => change([user, ...others][nth % 4]!)),
    );
    assert.deepEqual([countOf(answers, 400), countOf(answers, 429)], [5, 7]);
    const { status } = await change(await api.signIn());
    assert.equal(status, 400, 'another user is not held liable');
  });

  it('let a user read no more with many sessions than 3,000 a minute, here 100', async () => {
    const others = await Promise.all([1, 2, 3].map(() => anotherSession()));
    const answers: Answer[] = [];
    for (const client of [user, ...others]) {
      const asked = Array.from({ length: 35 }, () => client.get('/v1/rentals'));
      answers.push(...(await Promise.all(asked)));
    }
    assert.deepEqual([countOf(answers, 200), countOf(answers, 429)], [100, 40]);
    const refused = answers.at(-1)!;
    assert.deepEqual([standingIn(refused).policy, standingIn(refused).left], ['reads-user', 0]);
    assert.match(refused.headers.get('ratelimit-policy') ?? '', /^"reads-user";q=100;w=60, "reads";q=40/);
    assert.match(refused.body.message, /the limit of 100 reads of one user/);
    assert.equal((await (await api.signIn()).get('/v1/rentals')).status, 200);
  });

  it('count the reads of each API key apart, and all of a user’s reads and changes together', async () => {
    const keys = await Promise.all(
      [1, 2, 3].map(async () => api.withKey((await insertApiKeyOf(api.db, user.user.id)).token)),
    );
    const reads = await Promise.all(Array.from({ length: 45 }, () => keys[0]!.get('/v1/rentals')));
    assert.deepEqual([countOf(reads, 200), countOf(reads, 429)], [40, 5]);
    assert.match(reads.at(-1)!.body.message, /the limit of 40 reads by one session or key/);
    const others = await Promise.all(
      [keys[1]!, user].flatMap((client) => Array.from({ length: 35 }, () => client.get('/v1/rentals'))),
    );
    assert.deepEqual([countOf(others, 200), countOf(others, 429)], [60, 10], 'of the user’s 100');
    assert.equal(standingIn(await keys[2]!.get('/v1/rentals')).policy, 'reads-user');
    for (const client of [...keys, user, user]) await change(client);
    assert.equal((await change(keys[0]!)).status, 429);
  });

  it('stop keys that change too much before they stop their user, and tell both bounds', async () => {
    const keys = await Promise.all(
      [1, 2].map(async () => api.withKey((await insertApiKeyOf(api.db, user.user.id)).token)),
    );
    const answers = [];
    for (let nth = 0; nth < 8; nth += 1) answers.push(await change(keys[nth % 2]!));
    assert.deepEqual([countOf(answers, 403), countOf(answers, 429)], [3, 5], 'half of five, rounded up');
    assert.equal(answers[0]!.headers.get('ratelimit-policy'), '"changes-keys";q=3;w=60, "changes";q=5;w=60');
    assert.deepEqual(
      standingsIn(answers[0]!).map(({ policy, left }) => [policy, left]),
      [
        ['changes-keys', 2],
        ['changes', 4],
      ],
    );
    const refused = answers.at(-1)!;
    assert.match(refused.body.message, /the limit of 3 changes by API keys of one user a minute/);
    const own = await change(user);
    assert.deepEqual([own.status, standingIn(own).left], [400, 1], 'what was refused took nothing');
  });

  it('let a key stop machines past what keys changed, within the bound of their user', async () => {
    const key = api.withKey((await insertApiKeyOf(api.db, user.user.id, { scopes: ['rentals'] })).token);
    for (let nth = 0; nth < 4; nth += 1) await change(key);
    assert.equal((await change(key)).status, 429);
    const stop = (): Promise<Answer> => key.post(`/v1/rentals/${newId('rent')}/stop`);
    const stopped = [await stop(), await stop(), await stop()];
    assert.deepEqual([countOf(stopped, 404), countOf(stopped, 429)], [2, 1], 'the user has five');
    assert.equal(stopped[0]!.headers.get('ratelimit-policy'), '"changes";q=5;w=60');
    assert.match(stopped[2]!.body.message, /the limit of 5 changes of one user/);
  });

  it('count a key that does not hold with all others of its address', async () => {
    const from = { 'X-Forwarded-For': '198.51.100.77' };
    const mistyped = api.withKey(`gpur_${'0'.repeat(36)}`);
    const answers: Answer[] = [];
    for (let n = 0; n < 8; n += 1) answers.push(await mistyped.get('/v1/rentals', from));
    assert.deepEqual([countOf(answers, 401), countOf(answers, 429)], [6, 2]);
  });

  it('let two processes pass no more changes of a session than the limit, however they race', async () => {
    const other = new ApiClient(twin.url, user.sid);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => change(index % 2 === 0 ? user : other)),
    );
    assert.deepEqual([countOf(answers, 400), countOf(answers, 429)], [5, 19]);
    assert.equal((await user.get('/v1/rentals')).status, 200, 'reads are counted apart');
  });

  it('let two processes pass no more reads of a session than the limit, and no fewer when both are used', async () => {
    const other = new ApiClient(twin.url, user.sid);
    const answers = await Promise.all(
      Array.from({ length: 90 }, (_, index) => (index % 2 === 0 ? user : other).get('/v1/rentals')),
    );
    assert.deepEqual([countOf(answers, 200), countOf(answers, 429)], [40, 50]);
  });

  it('answer 429 rate_limited with Retry-After in the shape of every error', async () => {
    for (let count = 0; count < 5; count += 1) await change(user);
    const refused = await change(user);
    assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limited']);
    const { retryAfterSeconds } = refused.body.details as unknown as { retryAfterSeconds: number };
    assert.equal(refused.headers.get('retry-after'), String(retryAfterSeconds));
    assert.ok(retryAfterSeconds > 50 && retryAfterSeconds <= 60);
    assert.deepEqual(Object.keys(refused.body), ['error', 'message', 'details', 'requestId']);
    assert.equal(standingIn(refused).left, 0);
  });

  it('count strangers and made-up cookies by client address, not each other', async () => {
    const from = (address: string): Promise<Answer> => {
      const client = api.stranger();
      client.sid = 'A'.repeat(43);
      return client.get('/v1/auth/me', { 'X-Forwarded-For': address });
    };
    for (let count = 0; count < 6; count += 1) assert.equal((await from('203.0.113.9')).status, 401);
    const refused = await from('203.0.113.9');
    assert.deepEqual([refused.status, standingIn(refused).policy], [429, 'strangers']);
    assert.equal((await from('203.0.113.10')).status, 401);
    const signedIn = await user.get('/v1/auth/me', { 'X-Forwarded-For': '203.0.113.9' });
    assert.equal(signedIn.status, 200, 'a session is not held liable for its neighbours');
  });

  it('take the address from X-Forwarded-For only behind a proxy', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        twin.stranger().get('/v1/auth/me', { 'X-Forwarded-For': `198.51.100.${index}` }),
      ),
    );
    assert.deepEqual([countOf(answers, 401), countOf(answers, 429)], [6, 2]);
  });

  it('leave health checks and the payment processor alone', async () => {
    for (let count = 0; count < 10; count += 1) {
      const alive = await twin.stranger().get('/healthz');
      assert.deepEqual([alive.status, alive.headers.get('ratelimit')], [200, null]);
      const event = await twin.stranger().post('/v1/billing/processor/webhook', {});
      assert.deepEqual([event.status, event.headers.get('ratelimit')], [400, null]);
    }
  });

  describe('as they are counted', () => {
    for (const [what, create] of [
      ['exactly', createExactCount],
      ['by leases', createLeasedCount],
    ] as const) {
      it(`${what}: a caller over the limit comes back in the next window`, async () => {
        const count = create(api.db, `window-${what}`, 3, 1_000);
        for (let nth = 1; nth <= 3; nth += 1) assert.equal((await count.count('k')).remaining, 3 - nth);
        const refused = await count.count('k');
        assert.equal(refused.allowed, false);
        assert.ok(refused.resetMs > 0 && refused.resetMs <= 1_000);
        await sleep(refused.resetMs + 20);
        assert.equal((await count.count('k')).allowed, true);
      });

      it(`${what}: go on in memory while the database is away`, async () => {
        const away = openDatabase('postgres://nobody:x@127.0.0.1:9/none', 1, 'away');
        try {
          const count = create(away, `away-${what}`, 2, 60_000);
          const allowed = [];
          for (let nth = 0; nth < 4; nth += 1) allowed.push((await count.count('k')).allowed);
          assert.deepEqual(allowed, [true, true, false, false]);
        } finally {
          await away.destroy();
        }
      });
    }

    it('by leases: 20 reads take one round trip, and a refused caller none', async () => {
      const statements: string[] = [];
      const note = (): number => statements.push('one');
      const count = createLeasedCount(counting(api, note), 'trips', 40, 60_000);
      for (let nth = 0; nth < 100; nth += 1) await count.count('k');
      // Two leases, and one that was refused.
      assert.ok(statements.length <= 3, String(statements.length));
    });
  });
});

/** The same database, with a report of each connection that is taken. */
function counting(api: TestApi, note: () => void): TestApi['db'] {
  const { client } = api.db as unknown as { client: { acquireConnection(): unknown } };
  const watched = Object.create(client) as typeof client;
  watched.acquireConnection = () => {
    note();
    return client.acquireConnection();
  };
  return { client: watched } as unknown as TestApi['db'];
}
