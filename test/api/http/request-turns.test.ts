import assert from 'node:assert/strict';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { requestLimits } from '../../../domain/requests/limits.js';
import type { Answer } from '../../support/http/answers.js';
import { ApiClient, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRunningRental, insertSessionOf } from '../../support/money/factories.js';
import { until } from '../../support/until.js';

const HOUR = 3_600_000;
const AT_ONCE = requestLimits.requestsAtOnce;

describe('the turns of requests (decision 97)', () => {
  let api: TestApi;
  let user: SignedIn;
  let other: SignedIn;

  before(async () => {
    // The API is behind a proxy, so that a test can be a client with an address of its own.
    api = await startApi({ settings: { trustProxy: true } });
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await api.signIn();
    other = await api.signIn();
  });

  /** The number of the API's connections that wait for the test's locks. */
  async function held(): Promise<number> {
    const [row] = await api
      .db('pg_stat_activity')
      .where({ application_name: 'api', wait_event_type: 'Lock' })
      .whereRaw('datname = current_database()')
      .count<{ count: number }[]>();
    return row!.count;
  }

  /** Holds locks that requests wait for, until the test has looked. */
  async function whileHeld(sql: string, bindings: string[], look: () => Promise<void>): Promise<void> {
    const trx = await api.db.transaction();
    try {
      await trx.raw(sql, bindings);
      await look();
    } finally {
      await trx.rollback();
    }
  }

  const times = <T>(count: number, ask: (nth: number) => Promise<T>): Promise<T>[] =>
    Array.from({ length: count }, (_, nth) => ask(nth));

  /** Waits until this many connections are held up. Asserts that it stays so while others are answered. */
  async function untilBounded(atOnce: number, others: () => Promise<Answer>): Promise<void> {
    await until(`${atOnce} connections are held up`, async () => (await held()) >= atOnce);
    for (let nth = 0; nth < 10; nth += 1) assert.equal((await others()).status, 200);
    const heldNow = await held();
    assert.ok(heldNow <= atOnce, `${heldNow} are held up`);
  }

  function assertOneTooMany(answer: Answer): void {
    assert.deepEqual([answer.status, answer.body.error], [429, 'rate_limited']);
    assert.equal(answer.body.details.reason, 'too_many_at_once');
    assert.equal(answer.headers.get('retry-after'), '1');
  }

  it('let 200 slow reads of one user hold up nobody else, and not the user’s own stop', async () => {
    const sessions = [user, new ApiClient(api.url, await insertSessionOf(api.db, user.user.id))];
    const rental = await insertRunningRental(api.db, user.user.id, HOUR);
    let slow: Promise<Answer>[] = [];
    await whileHeld('lock table ledger_entries in access exclusive mode', [], async () => {
      slow = times(200, (nth) => sessions[nth % 2]!.get('/v1/billing/ledger'));
      // The rest is refused at once: from here on, each request is at work, waits, or has been refused.
      const refused = await Promise.any(slow);
      assertOneTooMany(refused);
      await untilBounded(AT_ONCE, () => other.get('/v1/rentals'));
      assert.equal((await user.post(`/v1/rentals/${rental.id}/stop`)).status, 200);
    });
    const answers = await Promise.all(slow);
    answers.filter(({ status }) => status === 429).forEach(assertOneTooMany);
    assert.equal((await user.get('/v1/billing/ledger')).status, 200, 'the turns were passed on');
  });

  it('last until the work is done, though its client has gone', async () => {
    await whileHeld('lock table ledger_entries in access exclusive mode', [], async () => {
      const gone = new AbortController();
      const headers = { Cookie: `sid=${user.sid}` };
      const asked = times(20, () =>
        fetch(`${api.url}/v1/billing/ledger`, { headers, signal: gone.signal }).catch(() => 'gone'),
      );
      await untilBounded(AT_ONCE, () => other.get('/v1/rentals'));
      gone.abort();
      assert.deepEqual(new Set(await Promise.all(asked)), new Set(['gone']));
      await untilBounded(AT_ONCE, () => other.get('/v1/rentals'));
    });
    assert.equal((await user.get('/v1/billing/ledger')).status, 200);
  });

  it('let the stops of one user take few connections, whatever holds their rentals', async () => {
    const rentals: RentalRow[] = [];
    for (let nth = 0; nth < 12; nth += 1) rentals.push(await insertRunningRental(api.db, user.user.id, HOUR));
    let stops: Promise<Answer>[] = [];
    await whileHeld('select no from rentals where user_id = ? for update', [user.user.id], async () => {
      stops = rentals.map(({ id }) => user.post(`/v1/rentals/${id}/stop`));
      await untilBounded(AT_ONCE, () => other.get('/v1/rentals'));
    });
    const answers = await Promise.all(stops);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const nos = rentals.map(({ no }) => no);
    assert.equal((await api.db('stop_requests').whereIn('rental_no', nos)).length, 12);
  });

  it('bound what an address asks without a session', async () => {
    const from = (address: string): Promise<Answer> => {
      const body = { email: 'nobody@example.com', code: '000000' };
      return api.stranger().post('/v1/auth/verify-code', body, { 'X-Forwarded-For': address });
    };
    let slow: Promise<Answer>[] = [];
    await whileHeld('lock table login_codes in access exclusive mode', [], async () => {
      slow = times(100, () => from('203.0.113.7'));
      assertOneTooMany(await Promise.any(slow));
      const neighbour = (): Promise<Answer> => user.get('/v1/rentals', { 'X-Forwarded-For': '203.0.113.7' });
      await untilBounded(AT_ONCE, neighbour);
      slow.push(from('203.0.113.8'));
      await untilBounded(AT_ONCE + 1, neighbour);
    });
    const answers = await Promise.all(slow);
    assert.notEqual(answers.at(-1)!.status, 429, 'another address is not held liable');
  });

  it('bound how many of an address are looked up at once, made-up cookies too', async () => {
    let asked: Promise<Answer>[] = [];
    await whileHeld('lock table sessions in access exclusive mode', [], async () => {
      asked = times(50, (nth) => {
        const client = new ApiClient(api.url, String(nth).padStart(43, 'A'));
        return client.get('/v1/auth/me', { 'X-Forwarded-For': '203.0.113.9' });
      });
      await untilBounded(AT_ONCE, () => api.stranger().get('/v1/auth/providers'));
    });
    const answers = await Promise.all(asked);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]));
  });
});
