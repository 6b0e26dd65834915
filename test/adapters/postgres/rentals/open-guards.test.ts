import assert from 'node:assert/strict';
import { openDatabase, type Database, type Transaction } from '../../../../adapters/postgres/database.js';
import {
  refuseWhenTooManyAreFree,
  refuseWhenNotAllowed,
} from '../../../../adapters/postgres/rentals/open-guards.js';
import type { RentalRow, UserRow } from '../../../../adapters/postgres/rows/tables.js';
import { Refusal } from '../../../../domain/refusal.js';
import { createTestDatabase } from '../../../support/servers/database.js';
import { insertRental, insertStoppedRental, insertUser } from '../../../support/money/factories.js';

describe('a new rental (decision 23)', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let db: Database;
  let user: UserRow;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 2, 'test');
  });
  beforeEach(async () => {
    user = await insertUser(db);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  const isAllowed = (): Promise<void> => db.transaction((trx) => refuseWhenNotAllowed(trx, user.id));
  const isRefused = (code: string, details?: object): Promise<void> =>
    assert.rejects(isAllowed(), (error) => {
      assert.ok(error instanceof Refusal);
      assert.deepEqual([error.code, error.details], [code, details]);
      return true;
    });

  it('is refused to a blocked user, with the reason, until they are unblocked', async () => {
    await isAllowed();
    await db('users').where({ id: user.id }).update({ blocked_at: new Date(), blocked_reason: 'fraud' });
    await isRefused('blocked', { reason: 'fraud' });
    await db('users').where({ id: user.id }).update({ blocked_reason: null });
    await isRefused('blocked', { reason: 'account' });
    await db('users').where({ id: user.id }).update({ blocked_at: null });
    await isAllowed();
  });

  it('is refused to who has twenty that live; those that have ended, and others’, do not count', async () => {
    const other = await insertUser(db);
    await insertRental(db, other.id);
    await insertStoppedRental(db, user.id);
    for (let count = 0; count < 19; count += 1) await insertRental(db, user.id);
    await isAllowed();
    await insertRental(db, user.id);
    await isRefused('blocked', { reason: 'too_many_rentals', limit: 20 });
  });

  it('is refused to all while operators have paused new rentals', async () => {
    await db('brakes').insert({ kind: 'creates', pulled_by: 'test', reason: 'drill' });
    await isRefused('temporarily_unavailable', undefined);
    await db('brakes').delete();
    await isAllowed();
  });

  describe('after machines that nobody was billed for (decision 83)', () => {
    const perHour = 3;
    const waits = async (): Promise<number | undefined> => {
      try {
        await db.transaction((trx) => refuseWhenTooManyAreFree(trx, user.id, perHour));
        return undefined;
      } catch (error) {
        assert.ok(error instanceof Refusal);
        assert.equal(error.code, 'rate_limited');
        return error.details?.['retryAfterSeconds'] as number;
      }
    };
    /** A rental that ended this many minutes ago. */
    const ended = (minutesAgo: number, columns: Partial<RentalRow> = {}) => {
      const at = new Date(Date.now() - minutesAgo * 60_000);
      return insertRental(db, user.id, {
        ...{ status: 'stopped', stop_reason: 'user', started_at: at, ended_at: at, settled_at: at },
        ...{ terminated_at: at, closed_at: at },
        ...columns,
      });
    };

    it('waits until the first of as many as are allowed is an hour old', async () => {
      for (const minutesAgo of [70, 50, 40]) await ended(minutesAgo);
      assert.equal(await waits(), undefined);
      await ended(10);
      const seconds = await waits();
      assert.ok(seconds !== undefined && Math.abs(seconds - 600) <= 5, `${seconds} s`);
    });

    it('counts what was refunded, and what ran below half a cent', async () => {
      const ranAt = new Date(Date.now() - 60_000);
      const charged = { running_at: ranAt, charged_cents: 50, refunded_cents: 50 };
      await ended(1, { ...charged, status: 'failed', error: 'lost', stop_reason: 'pod_lost' });
      await ended(1, { running_at: ranAt });
      await ended(1);
      assert.ok((await waits()) !== undefined);
    });

    it('counts those that are being got, for a moment', async () => {
      for (let count = 0; count < perHour; count += 1) await insertRental(db, user.id);
      assert.equal(await waits(), 30);
    });

    it('counts nothing that was billed, that the upstream or an operator ended, or of others', async () => {
      const ranAt = new Date(Date.now() - 600_000);
      const other = await insertUser(db);
      // Each kind is as many as would be too many alone.
      for (let count = 0; count < perHour; count += 1) {
        await ended(1, { running_at: ranAt, charged_cents: 1 });
        await ended(1, { status: 'failed', error: 'never ready', stop_reason: null });
        await ended(1, { stop_reason: 'operator' });
        await insertRental(db, user.id, { status: 'running', running_at: ranAt });
        await insertRental(db, other.id);
      }
      assert.equal(await waits(), undefined);
    });

    it('reads none of the thousands that have ended for longer', async () => {
      const { id } = await ended(70);
      await copyOf(id, 5_000);
      await db.transaction(async (trx) => {
        const before = await readRows(trx);
        await refuseWhenTooManyAreFree(trx, user.id, perHour);
        const read = (await readRows(trx)) - before;
        assert.ok(read < 100, `${read} rows`);
      });
    });

    /** Makes this many copies of a rental. */
    async function copyOf(id: string, count: number): Promise<void> {
      const columns = `wallet_id, user_id, status, family, model, gpu_count, region, region_code, interconnect, template_id,
        ssh_key_ids, listing_id, provider_code, price_per_hour_cents, hold_cents, started_at, ended_at, settled_at,
        terminated_at, closed_at, stop_reason`;
      await db.raw(
        `insert into rentals (id, tag, ${columns})
         select 'rent_' || lpad(n::text, 26, '0'), 'copy-' || n, ${columns}
           from rentals, generate_series(1, :count::int) n where id = :id`,
        { id, count },
      );
      await db.raw('analyze rentals');
    }

    /** The number of rows of rentals that this transaction has read. */
    async function readRows(trx: Transaction): Promise<number> {
      const { rows } = await trx.raw<{ rows: { read: number }[] }>(
        `select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables where relname = 'rentals'`,
      );
      return rows[0]!.read;
    }
  });
});
