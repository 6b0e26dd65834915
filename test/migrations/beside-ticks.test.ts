import assert from 'node:assert/strict';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import type { RentalId } from '../../domain/ids.js';
import { accruedCents } from '../../domain/metering/metering.js';
import { migrateToLatest } from '../../migrations/migrate.js';
import { tick } from '../../money/metering/tick.js';
import { verifyLedger } from '../../adapters/postgres/wallets/verify.js';
import { getRental, insertRunning, insertWallet } from '../support/money/money.js';
import { createEmptyDatabase, type TestDatabase } from '../support/servers/database.js';
import { until } from '../support/until.js';

const whole = { shard: 0, shards: 1 };

/** New versions migrate first, while engines of the version before go on ticking. */
describe('the migration by which meters are not written any more', () => {
  let database: TestDatabase;
  let db: Database;
  let id: RentalId;

  before(async () => {
    database = await createEmptyDatabase();
    await migrateToLatest(database.url, '042-cheaper-chains');
    db = openDatabase(database.url, 5, 'test');
    id = await insertRunning(db, await insertWallet(db, 100_000), { priceCents: 3_600, ranMs: 10_500 });
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  /** What the engine of the version before writes for its one wallet. */
  async function tickAsBefore(of: Database): Promise<void> {
    await of.raw(
      `with owed as materialized (
         select m.wallet_id, m.rental_no, m.charged_cents, m.hold_cents, w.seq, w.available_cents + w.reserved_cents as total,
                (m.price_per_hour_cents * (epoch_ms(clock_ms()) - m.running_ms) / 3600000 - m.charged_cents)::int as cents
           from wallets w join meters m on m.wallet_id = w.id where m.due_ms <= epoch_ms(clock_ms())
       ), entries as (
         insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
         select wallet_id, seq + 1, 'rental_charge', -cents, total - cents, rental_no, clock_ms() from owed
       ), moved as (
         update wallets w set seq = w.seq + 1, reserved_cents = w.reserved_cents - least(o.cents, o.hold_cents),
                              available_cents = w.available_cents - o.cents + least(o.cents, o.hold_cents)
           from owed o where w.id = o.wallet_id
       )
       update meters m set charged_cents = o.charged_cents + o.cents, hold_cents = o.hold_cents - least(o.cents, o.hold_cents),
                           starved_ms = null
         from owed o where m.rental_no = o.rental_no`,
    );
  }

  /** Has the rental begun earlier by this much: what it was charged no longer follows from its wallet. */
  const laterBy = (ms: number) =>
    db.raw(`update rentals set running_at = running_at - ? * interval '1 millisecond'`, [ms]);

  async function assertCharged(): Promise<void> {
    const rental = await getRental(db, id);
    const { rows } = await db.raw<{ rows: { ms: number }[] }>('select epoch_ms(clock_ms()) as ms');
    const owed = accruedCents(3_600, rows[0]!.ms - rental.running_at!.getTime());
    assert.ok(
      owed - rental.charged_cents <= 1 && rental.charged_cents > 0,
      `${rental.charged_cents} of ${owed}`,
    );
    assert.deepEqual(await verifyLedger(db), []);
  }

  it('waits for a moment without a tick, and holds up nobody meanwhile', async () => {
    await tickAsBefore(db);
    const ticking = await db.transaction();
    let migrated: Promise<string[]>;
    try {
      await ticking.raw('select count(*) from meters');
      migrated = migrateToLatest(database.url);
      migrated.catch(() => undefined);
      await until('the migration waits', async () => {
        const { rows } = await db.raw<{ rows: unknown[] }>(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
        );
        return rows.length > 0;
      });
      assert.ok((await getRental(db, id)).charged_cents >= 10);
      await ticking.raw('update meters set charged_cents = charged_cents');
      await ticking.commit();
    } catch (error) {
      await ticking.rollback();
      throw error;
    }
    assert.deepEqual((await migrated).slice(0, 1), ['043-unwritten-meters']);
    await assertCharged();
  });

  it('lets engines of both versions tick in turn: no cent is charged twice, and none is lost', async () => {
    for (let turn = 0; turn < 12; turn += 1) {
      await laterBy(1_000 + turn * 777);
      if (turn % 3 === 1) await tickAsBefore(db);
      else await tick(db, whole);
      await assertCharged();
      // Without a new start: what follows from the wallet stays as it is read.
      const before = (await getRental(db, id)).charged_cents;
      await until('a cent more is due', async () => {
        const { rows } = await db.raw<{ rows: unknown[] }>(
          'select 1 from meters where due_ms <= epoch_ms(clock_ms())',
        );
        return rows.length > 0;
      });
      if (turn % 2 === 0) await tickAsBefore(db);
      else await tick(db, whole);
      assert.ok((await getRental(db, id)).charged_cents > before);
      await assertCharged();
    }
  });

  it('lets an engine of the version before write to each meter without reading all wallets for it', async () => {
    await db.raw(`insert into users (id, email)
                  select 'usr_' || lpad(n::text, 26, '0'), n || '@example.com' from generate_series(1, 2000) n`);
    await db.raw(`insert into wallets (user_id) select id from users on conflict do nothing`);
    const wallet = await insertWallet(db, 100_000);
    for (let count = 0; count < 20; count += 1)
      await insertRunning(db, wallet, { priceCents: 100, ranMs: 1_000 });
    await db.raw('analyze wallets');
    const read = await db.transaction(async (trx) => {
      await trx.raw(`select set_config('enable_nestloop', 'off', true)`);
      await trx('meters').update({ starved_ms: null });
      const { rows } = await trx.raw<{ rows: { read: number }[] }>(
        `select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables where relname = 'wallets'`,
      );
      return rows[0]!.read;
    });
    // The statement itself reads each wallet once.
    assert.ok(read < 2 * 2_000, `${read} rows of wallets`);
  });
});
