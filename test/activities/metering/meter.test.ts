import assert from 'node:assert/strict';
import pino from 'pino';
import { createMeterActivities } from '../../../activities/metering/meter.js';
import type { ActivityDeps } from '../../../activities/deps.js';
import type { Tick } from '../../../adapters/metrics/ticks.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { databaseDeadlines } from '../../../adapters/postgres/deadlines.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { confirmDatabase } from '../../../adapters/postgres/restore/watermark.js';
import type { RentalId } from '../../../domain/ids.js';
import { runAlone, type LoneActivity } from '../../support/service/activity-context.js';
import {
  getRental,
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../../support/money/money.js';
import { openSilentWay, urlOver, type SilentWay } from '../../support/http/silent-way.js';
import { until } from '../../support/until.js';

/** Three cents a second, so that each second makes a difference. */
const PRICE_CENTS = 10_800;

/** The product's deadlines of metering, shorter, so that a test sees them pass. */
const short = {
  ...databaseDeadlines.meter,
  ...{ statementMs: 1_500, transactionMs: 3_000, idleInTransactionMs: 1_500, answerMs: 2_000 },
};

describe('runMeter', () => {
  let money: MoneyDatabase;
  let db: Database;
  let general: Database;
  before(async () => {
    money = await openMoneyDatabase();
    db = money.db;
    general = openDatabase(money.url, 2, 'test-general', null, {
      ...databaseDeadlines.worker,
      acquireMs: 500,
    });
    await confirmDatabase(db, null);
  });
  after(async () => {
    await general.destroy();
    await money.close();
  });
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(db), [], 'nothing was charged twice');
  });

  async function running(): Promise<RentalId> {
    return insertRunning(db, await insertWallet(db, 1_000_000), { priceCents: PRICE_CENTS, ranMs: 1_000 });
  }

  async function charged(id: RentalId): Promise<number> {
    return (await getRental(db, id)).charged_cents;
  }

  interface Metering extends LoneActivity<unknown> {
    readonly ticks: Tick[];
  }

  function meterOver(meterDb: Database, forMs: number): Metering {
    const ticks: Tick[] = [];
    const deps = {
      ...{ db: general, meterDb, log: pino({ level: 'silent' }) },
      settings: { shards: 1 },
      observeTick: (tick: Tick) => void ticks.push(tick),
    } as unknown as ActivityDeps;
    return { ...runAlone(() => createMeterActivities(deps).runMeter(0, forMs)), ticks };
  }

  /** Holds all connections of a pool until the returned function is called. */
  async function exhaust(pool: Database, size: number): Promise<() => Promise<unknown>> {
    const held = await Promise.all(Array.from({ length: size }, () => pool.transaction()));
    return () => Promise.all(held.map((trx) => trx.rollback()));
  }

  it('ticks each second while others have taken every connection of the general pool', async () => {
    const meterDb = openDatabase(money.url, 2, 'test-meter', null, databaseDeadlines.meter);
    const giveBack = await exhaust(general, 2);
    try {
      const id = await running();
      const metering = meterOver(meterDb, 6_000);
      assert.equal(await metering.result, 'again');
      assert.ok(metering.ticks.length >= 4, `${metering.ticks.length} ticks in 6 s`);
      const slowest = Math.max(...metering.ticks.map(({ durationMs }) => durationMs));
      assert.ok(slowest < 3_000, `a tick took ${slowest} ms: nothing of the general pool is waited for`);
      assert.ok((await charged(id)) >= 12);
    } finally {
      await giveBack();
      await meterDb.destroy();
    }
  });

  describe('over a connection that goes silent', () => {
    let way: SilentWay;
    let meterDb: Database;
    beforeEach(async () => {
      way = await openSilentWay(Number(new URL(money.url).port));
      meterDb = openDatabase(urlOver(way, money.url), 2, 'test-meter', null, short);
    });
    afterEach(async () => {
      await meterDb.destroy();
      await way.close();
    });

    const moments: Record<string, (way: SilentWay) => void> = {
      'between two ticks': (w) => w.silence(),
      'while a tick looks for what is due': (w) => w.silenceAt('tick-look', true),
      'within the transaction of a tick': (w) => w.silenceAt('insert into meter_shards', true),
      'at a commit that arrives': (w) => w.silenceAt('COMMIT', true),
      'at a commit that does not arrive': (w) => w.silenceAt('COMMIT', false),
    };
    for (const [moment, goSilent] of Object.entries(moments)) {
      it(`goes on over a fresh one within seconds, and charges nothing twice: ${moment}`, async () => {
        const id = await running();
        const metering = meterOver(meterDb, 120_000);
        await until('it ticks', () => metering.ticks.length > 0);
        goSilent(way);
        await until('the connection is silent', () => way.silent > 0);
        const before = metering.ticks.length;
        const silentAtMs = performance.now();
        await until('it ticks again', () => metering.ticks.length > before + 1);
        const waitedMs = performance.now() - silentAtMs;
        assert.ok(waitedMs < 10_000, `${Math.round(waitedMs)} ms`);
        await until('the wallet that the silent transaction held is metered', async () => {
          const { rows } = await db.raw<{ rows: { ok: boolean }[] }>(
            `select price_per_hour_cents * (epoch_ms(clock_ms()) - running_ms) / 3600000 - charged_cents < 10 as ok
               from meters where rental_no = (select no from rentals where id = ?)`,
            [id],
          );
          return rows[0]?.ok === true;
        });
        assert.equal(way.closed, way.silent, 'the silent socket is destroyed');
        metering.cancel();
        await assert.rejects(metering.result, { name: 'CancelledFailure' }, 'the attempt itself went on');
      });
    }

    it('stops beating, and fails, when no connection answers any more', async () => {
      await running();
      const metering = meterOver(meterDb, 60_000);
      await until('it ticks', () => metering.ticks.length > 0);
      way.silenceNew(true);
      way.silence();
      await assert.rejects(metering.result);
      const beats = metering.beats.length;
      assert.ok(beats < 40, `${beats} beats`);
    });
  });

  it('is not held up by somebody who holds the row of one rental: all others are metered', async () => {
    const meterDb = openDatabase(money.url, 2, 'test-meter', null, databaseDeadlines.meter);
    const held = await running();
    const others = [await running(), await running()];
    await db.raw(
      `insert into stop_requests (rental_no, requested_by) select no, 'user' from rentals where id = ?`,
      [held],
    );
    const holder = await db.transaction();
    try {
      // Locks the rental without its wallet, as a worker with a half-open connection leaves it.
      await holder.raw('select no from rentals where id = ? for update', [held]);
      const metering = meterOver(meterDb, 8_000);
      assert.equal(await metering.result, 'again');
      const slowest = Math.max(...metering.ticks.map(({ durationMs }) => durationMs));
      assert.ok(slowest < 4_000, `a tick took ${slowest} ms; the row is held for eight seconds`);
      assert.ok(metering.ticks.length >= 5, `${metering.ticks.length} ticks in 8 s`);
      for (const id of others) assert.ok((await charged(id)) >= 20, 'metered up to now');
      assert.equal((await getRental(db, held)).status, 'running');
    } finally {
      await holder.rollback();
    }
    await meterOver(meterDb, 2_500).result;
    assert.equal((await getRental(db, held)).status, 'stopping', 'a later tick has it');
    await meterDb.destroy();
  });
});
