import assert from 'node:assert/strict';
import { once } from 'node:events';
import { defaultTimeouts } from '../../../api/server.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { FileReader } from '../../support/http/file-reader.js';
import { insertApiKeyOf } from '../../support/money/factories.js';
import { until } from '../../support/until.js';

const ENTRIES = 60_000;

describe('files that are sent (decision 129)', () => {
  let api: TestApi;
  let user: SignedIn;
  let readers: FileReader[] = [];

  async function startWith(settings: { askAgainMs?: number }, withinMs: number): Promise<void> {
    api = await startApi({
      settings,
      timeouts: { ...defaultTimeouts, pace: { bytes: 16 * 1024, withinMs } },
    });
    user = await api.signIn();
    const wallet = (await api.db('wallets').where({ user_id: user.user.id }).first())!;
    await api.db.raw(
      `with e as (
         insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, processor_charge_id, created_at)
         select :id, n, 'processor_topup', 1, n, 'ch_1', clock_ms() from generate_series(1, :count::int) n)
       update wallets set available_cents = :count, seq = :count where id = :id`,
      { id: wallet.id, count: ENTRIES },
    );
  }

  afterEach(() => {
    for (const { socket } of readers) socket.destroy();
    readers = [];
  });

  function download(header: string): FileReader {
    const reader = new FileReader(api.url, '/v1/billing/ledger.csv', header);
    readers.push(reader);
    return reader;
  }

  const bySession = (sid = user.sid!): FileReader => download(`Cookie: sid=${sid}`);
  const byKey = (token: string): FileReader => download(`Authorization: Bearer ${token}`);

  describe('that nobody reads', () => {
    before(() => startWith({}, 60_000));
    after(() => api.stop());

    it('end one another by a key, and leave its user all else', async () => {
      const { token } = await insertApiKeyOf(api.db, user.user.id, { scopes: ['billing', 'read'] });
      const four: FileReader[] = [];
      for (let nth = 0; nth < 4; nth += 1) {
        four.push(byKey(token));
        assert.equal(await four[nth]!.begun(), 200);
      }
      await until('the two oldest are cut', async () => {
        const [first, second] = await Promise.all(four.slice(0, 2).map((each) => each.rest()));
        return first! > 0 && second! > 0;
      });
      assert.deepEqual(
        four.map(({ closed }) => closed),
        [true, true, false, false],
      );
      assert.equal((await user.get('/v1/billing/ledger')).status, 200);
      assert.equal((await api.withKey(token).get('/v1/billing/balance')).status, 200);
      const whole = bySession();
      await whole.begun();
      assert.ok((await whole.rest()) > 5_000_000, 'a session has places of its own');
    });

    it('are four at most of 200 that are begun at once, and others are answered meanwhile', async () => {
      const other = await api.signIn();
      const { token } = await insertApiKeyOf(api.db, user.user.id, { scopes: ['billing', 'read'] });
      const all = Array.from({ length: 200 }, (_, nth) => (nth % 2 === 0 ? bySession() : byKey(token)));
      for (let nth = 0; nth < 5; nth += 1) {
        assert.equal((await other.get('/v1/rentals')).status, 200);
        assert.equal((await user.post('/v1/rentals/rent_none/stop')).status, 404);
      }
      await Promise.all(all.map((reader) => Promise.race([reader.begun(), once(reader.socket, 'close')])));
      const open = async (): Promise<number> =>
        new Promise((resolve) => {
          api.server.server.getConnections((_error, count) => resolve(count));
        });
      await until('the rest is cut or refused', async () => (await open()) <= 4 + 2);
    });
  });

  describe('to those who may not have them any more', () => {
    before(() => startWith({ askAgainMs: 50 }, 60_000));
    after(() => api.stop());

    it('end when the key is revoked, or may not be used from there', async () => {
      const [revoked, narrowed, living] = [
        await insertApiKeyOf(api.db, user.user.id, { scopes: ['billing', 'read'] }),
        await insertApiKeyOf(api.db, user.user.id, { scopes: ['billing', 'read'] }),
        await insertApiKeyOf(api.db, user.user.id, { scopes: ['billing', 'read'] }),
      ];
      const first = byKey(revoked.token);
      const second = byKey(narrowed.token);
      await Promise.all([first.begun(), second.begun()]);
      await api
        .db('api_keys')
        .where({ id: revoked.row.id })
        .update({ revoked_at: api.db.raw('clock_ms()') });
      await api
        .db('api_keys')
        .where({ id: narrowed.row.id })
        .update({ allowed_cidrs: ['192.0.2.0/24'] });
      const whole = (await Promise.all([first.rest(), second.rest()])).map((bytes) => bytes > 5_000_000);
      assert.deepEqual(whole, [false, false]);
      const third = byKey(living.token);
      await third.begun();
      third.take(2_000_000);
      assert.ok((await third.rest()) > 5_000_000);
    });

    it('end when the session ends', async () => {
      const reader = bySession();
      await reader.begun();
      await api.db('sessions').where({ user_id: user.user.id }).delete();
      assert.ok((await reader.rest()) < 5_000_000);
    });
  });

  describe('to slow readers', () => {
    before(() => startWith({}, 900));
    after(() => api.stop());

    it('are cut where nobody reads, or a byte at a time', async () => {
      const [unread, slow] = [bySession(), bySession()];
      await Promise.all([unread.begun(), slow.begun()]);
      slow.take(20);
      await until('both are cut', async () => {
        const open = await new Promise<number>((resolve) => {
          api.server.server.getConnections((_error, count) => resolve(count));
        });
        return open === 0;
      });
    });

    it('are whole at a steady pace, though the kernel holds megabytes of them', async () => {
      const fast = bySession();
      await fast.begun();
      const wholeBytes = await fast.rest();
      const steady = bySession();
      await steady.begun();
      steady.take(1_000_000);
      await until('it has come whole', () => steady.closed);
      assert.equal(steady.receivedBytes, wholeBytes);
    });
  });
});
