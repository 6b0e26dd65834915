import assert from 'node:assert/strict';
import {
  confirmDatabase,
  isDatabaseConfirmed,
  raiseWatermark,
  readWatermark,
  reconcilingWithin,
} from '../../../../adapters/postgres/restore/watermark.js';
import type { Database } from '../../../../adapters/postgres/database.js';
import {
  credit,
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../../../support/money/money.js';
import { tick } from '../../../../money/metering/tick.js';
import { snapshotDatabase, type Snapshot } from '../../../support/servers/snapshots.js';

const whole = { shard: 0, shards: 1 };

describe('the watermark of the database', () => {
  let money: MoneyDatabase;
  let db: Database;
  beforeEach(async () => {
    money = await openMoneyDatabase();
    db = money.db;
  });
  afterEach(() => money.close());

  it('lets a new database work before it was ever raised', async () => {
    assert.equal(await isDatabaseConfirmed(db), true);
    await insertWallet(db, 100);
    assert.equal(await confirmDatabase(db, null), 'confirmed');
  });

  it('finds out an empty database that takes the place of one that Temporal knows', async () => {
    assert.equal(await confirmDatabase(db, 7), 'restored');
    assert.equal(await isDatabaseConfirmed(db), false);
    const [brake] = await db('brakes');
    assert.equal(brake?.kind, 'restored');
    await assert.rejects(insertWallet(db, 100), { code: 'RS001' });
  });

  it('is raised by one, and only while the database is confirmed', async () => {
    assert.equal(await raiseWatermark(db), 1);
    assert.equal(await raiseWatermark(db), 2);
    await confirmDatabase(db, 3);
    await assert.rejects(raiseWatermark(db), /not confirmed/);
    assert.equal((await readWatermark(db)).value, 2);
  });

  it('waits for witnesses from now on where the doubt began by a clock that ran ahead', async () => {
    const ahead = db.raw<Date>(`clock_ms() + interval '1 day'`) as never;
    await db('watermark').update({ lineage: 'the one before', doubted_at: ahead });
    await db('witnesses').insert({ id: 'w', part: 'api', lineage: 'the one before' });
    assert.equal(await confirmDatabase(db, null), 'unproven');
    const doubted = await db('watermark').whereRaw('doubted_at <= clock_ms()');
    assert.equal(doubted.length, 1);
  });

  it('lifts the brake by itself when the newer database comes back', async () => {
    await raiseWatermark(db);
    await confirmDatabase(db, 3);
    assert.equal(await confirmDatabase(db, 1), 'confirmed');
    assert.deepEqual(await db('brakes'), []);
    assert.equal(await isDatabaseConfirmed(db), true);
  });

  it('lets reconciling write, within its transaction alone', async () => {
    const wallet = await insertWallet(db, 100);
    await confirmDatabase(db, 3);
    await reconcilingWithin(db, (trx) => credit(trx, wallet.user_id, 50));
    await assert.rejects(credit(db, wallet.user_id, 50), { code: 'RS001' });
  });

  describe('after its rows were put back in whatever way', () => {
    it('refuses all postings of a dump that was restored into the same database, though nobody has compared', async () => {
      const wallet = await insertWallet(db, 10_000);
      await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 5_000 });
      await raiseWatermark(db);
      // pg_restore --clean does the same: it makes the table anew and copies the old row into it.
      await db.raw(`
        create temp table dumped as select * from watermark;
        drop table watermark;
        create table watermark (singleton boolean primary key default true check (singleton),
          value bigint not null, raised_at timestamptz(3) not null, confirmed_as text, lineage text,
          doubted_at timestamptz(3));
        insert into watermark select * from dumped`);
      assert.equal(await isDatabaseConfirmed(db), false);
      await assert.rejects(tick(db, whole), { code: 'RS001' });
      await assert.rejects(credit(db, wallet.user_id, 1), { code: 'RS001' });
      assert.equal(await confirmDatabase(db, 1), 'confirmed');
      assert.equal((await tick(db, whole)).entries, 1);
    });

    it('refuses in a database that was dropped and made again', async () => {
      const wallet = await insertWallet(db, 10_000);
      await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 5_000 });
      await raiseWatermark(db);
      let snapshot: Snapshot | undefined;
      try {
        snapshot = await snapshotDatabase(money.url);
        await snapshot.restore();
        await assert.rejects(tick(db, whole), { code: 'RS001' });
        assert.equal(await confirmDatabase(db, 2), 'restored');
        await assert.rejects(tick(db, whole), { code: 'RS001' });
      } finally {
        await snapshot?.drop();
      }
    });
  });

  it('is asked once by a tick, however many entries it writes', async () => {
    const { rows } = await db.raw<{ rows: { level: string }[] }>(
      `select action_orientation as level from information_schema.triggers
        where trigger_name = 'ledger_entries_when_restored'`,
    );
    assert.deepEqual(rows, [{ level: 'STATEMENT' }]);
  });
});
