import assert from 'node:assert/strict';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { pullBrake, releaseBrake } from '../../adapters/postgres/operators/brakes.js';
import type { WalletRow } from '../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../domain/ids.js';
import { tick, tickApart } from '../../money/metering/tick.js';
import { advanceMetering, settleEnded } from '../../money/rentals/lifecycle.js';
import {
  askToStop,
  getRental,
  insertRunning,
  insertWallet,
  onVerifiedDatabase,
} from '../support/money/money.js';
import { VirtualClock } from '../support/money/virtual-clock.js';
import { untilSomeoneWaits } from '../support/someone-waits.js';

const whole = { shard: 0, shards: 1 };
const HOUR = 3_600_000;

/** Decision 126, "Meters that are not written": no cent falls between two looks. */
describe('what a look at the meters saw', () => {
  let db: Database;
  let clock: VirtualClock;
  onVerifiedDatabase(async (opened) => {
    db = opened.db;
    clock = await VirtualClock.install(db);
  });

  let running: RentalId[];
  let wallet: WalletRow;
  let id: RentalId;
  beforeEach(async () => {
    await db('meter_shards').delete();
    running = [];
    [wallet, id] = await rent();
    await tick(db, whole);
  });
  afterEach(async () => {
    for (const each of running) await askToStop(db, each);
    await tick(db, whole);
    for (const each of running) await settleEnded(db, each);
  });

  /** One that owes a cent each 100 s, and has run for 5 s since the first. */
  async function rent(ranMs = 105_000): Promise<[WalletRow, RentalId]> {
    const of = await insertWallet(db, 1_000);
    const rental = await insertRunning(db, of, { priceCents: 36, ranMs });
    running.push(rental);
    return [of, rental];
  }
  const charged = async (of = id) => (await getRental(db, of)).charged_cents;

  it('is not lost when the clock is set back before it is metered', async () => {
    await clock.pass(95_050);
    // The look reads the clock first.
    await clock.moveAfterRead(-200, async () => tick(db, whole));
    assert.equal(await charged(), 1);
    await tick(db, whole);
    assert.equal(await charged(), 2);
  });

  it('is left with its instant to the next look, where a cent comes due before the others are metered', async () => {
    const [, other] = await rent(104_900);
    await tick(db, whole);
    // The look finds a cent due in the first rental, and 50 ms later one is due in the other.
    await clock.pass(95_050);
    await clock.moveAfterRead(100, async () => tick(db, whole));
    assert.deepEqual([await charged(), await charged(other)], [2, 1]);
    await clock.pass(100);
    await tick(db, whole);
    assert.deepEqual([await charged(), await charged(other)], [2, 2]);
  });

  it('is not missed when the clock stands before it', async () => {
    const [, young] = await rent(0);
    await tick(db, whole);
    await clock.pass(-HOUR);
    await db('rentals')
      .where({ id: young })
      .update({ running_at: db.raw('clock_ms()') });
    for (let cents = 1; cents <= 3; cents += 1) {
      await clock.pass(100_000);
      await tick(db, whole);
      assert.equal(await charged(young), cents);
    }
    await clock.pass(HOUR);
  });

  it('is not lost when metering is paused for a moment after it', async () => {
    await clock.pass(100_000);
    /** Pauses while wallets are metered, and neither before nor after. */
    const paused = new Proxy(db, {
      get(target, name): unknown {
        if (name !== 'transaction') return Reflect.get(target, name);
        return async (meter: (trx: Transaction) => Promise<unknown>) => {
          await db.transaction((trx) => pullBrake(trx, { kind: 'metering', by: 'ada', reason: 'test' }));
          const metered = await target.transaction(meter);
          await db.transaction((trx) => releaseBrake(trx, 'metering'));
          return metered;
        };
      },
    });
    await tickApart(paused, whole);
    assert.equal(await charged(), 1);
    await tick(db, whole);
    assert.equal(await charged(), 2);
  });

  it('is metered again with a wallet that was at fault, though looks did not keep it', async () => {
    await clock.pass(100_000);
    const blocked = (reason: string | null) =>
      db('wallets')
        .where({ id: wallet.id })
        .update({
          metering_blocked_at: reason === null ? null : new Date(),
          metering_blocked_reason: reason,
        });
    await blocked('test');
    await tick(db, whole);
    await clock.pass(1_000);
    await tick(db, whole);
    assert.deepEqual([await charged(), (await db('meter_shards').first())?.behind], [1, []]);
    await blocked(null);
    await tick(db, whole);
    assert.equal(await charged(), 2);
  });

  it('is not charged a second time when somebody writes to the meter meanwhile', async () => {
    await clock.pass(100_000);
    const ticking = await db.transaction();
    try {
      await tick(ticking, whole);
      const writing = db('meters').where({ wallet_id: wallet.id }).update({ starved_ms: null });
      const refused = assert.rejects(writing, /has moved on meanwhile: write again/);
      await untilSomeoneWaits(db, 'the writer waits for the wallet');
      await ticking.commit();
      await refused;
    } finally {
      if (!ticking.isCompleted()) await ticking.rollback();
    }
    await db('meters').where({ wallet_id: wallet.id }).update({ starved_ms: null });
    await tick(db, whole);
    assert.equal(await charged(), 2);
  });

  it('is not taken for that of another number of shards, which an engine of the release before has noted', async () => {
    const [odd, other] = await rent();
    const apart = odd.id % 2 === 1 ? other : id;
    await tick(db, whole);
    await clock.pass(100_000);
    await tick(db, { shard: 0, shards: 2 });
    await db('meter_shards')
      .where({ shard: 0 })
      .update({ shards: 1, last_tick_at: db.raw('clock_ms()') });
    await clock.pass(1_000);
    await tick(db, whole);
    assert.equal(await charged(apart), 2);
  });

  it('hides nothing that follows its wallet since then, while it stands ahead of the clock', async () => {
    await clock.pass(-300_000);
    const [, young] = await rent(0);
    await clock.pass(100_000);
    await advanceMetering(db, young, HOUR);
    assert.equal(await charged(young), 1);
    await clock.pass(100_000);
    await tick(db, whole);
    assert.equal(await charged(young), 2);
    await clock.pass(100_000);
  });

  for (const state of ['57014', '25P04'])
    it(`is kept of a wallet that takes too long (${state}), and those after it are metered`, async () => {
      const [, next] = await rent();
      await tick(db, whole);
      await clock.pass(100_000);
      await db.raw(`create function too_slow() returns trigger language plpgsql as
        $$ begin raise exception 'too slow' using errcode = '${state}'; end $$`);
      await db.raw(`create trigger too_slow before update on wallets for each row when (old.id = ${wallet.id})
        execute function too_slow()`);
      try {
        await assert.rejects(tick(db, whole), /too slow/);
        const { blocked, heldUp } = await tickApart(db, whole);
        assert.deepEqual([blocked, heldUp], [[], [wallet.id]]);
        assert.deepEqual([await charged(), await charged(next)], [1, 2]);
      } finally {
        await db.raw('drop function too_slow cascade');
      }
      await tick(db, whole);
      assert.equal(await charged(), 2);
    });

  it('is noted with those that are behind, unless they are too many: the next one begins where it began', async () => {
    const noted = async () => {
      const { looked_ms: lookedMs, behind } = (await db('meter_shards').first())!;
      return [lookedMs, behind.length];
    };
    const before = await noted();
    await clock.pass(1_000);
    // Due, and nobody can lock a wallet that is not there.
    await db.raw(
      `insert into meter_readings (rental_no, wallet_id, price_per_hour_cents, hold_cents, charged_cents, running_ms)
       select -n, -n, 3600, 0, 0, 0 from generate_series(1, 100001) n`,
    );
    try {
      await tick(db, whole);
      assert.deepEqual(await noted(), before);
      await db('meter_readings').where({ rental_no: -1 }).delete();
      await tick(db, whole);
      assert.deepEqual(await noted(), [await clock.nowMs(), 100_000]);
    } finally {
      await db('meter_readings').where('rental_no', '<', 0).delete();
      await db('meter_shards').delete();
    }
  });

  it('is not stopped by a meter that begins in thirty years', async () => {
    const [far, late] = await rent();
    const { running_ms: ran } = (await db('meter_readings').where({ wallet_id: far.id }).first())!;
    await db('meter_readings')
      .where({ wallet_id: far.id })
      .update({ price_per_hour_cents: 10_000_000, running_ms: ran + 30 * 366 * 24 * HOUR });
    await tick(db, whole);
    await db('meter_readings')
      .where({ wallet_id: far.id })
      .update({ price_per_hour_cents: 36, running_ms: ran });
    assert.equal(await charged(late), 0);
  });
});
