import assert from 'node:assert/strict';
import type { Database } from '../../adapters/postgres/database.js';
import { pullBrake, releaseBrake } from '../../adapters/postgres/operators/brakes.js';
import type { WalletRow } from '../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../domain/ids.js';
import { tick, tickApart } from '../../money/metering/tick.js';
import { settleEnded } from '../../money/rentals/lifecycle.js';
import {
  askToStop,
  getRental,
  getWallet,
  insertRunning,
  insertWallet,
  onVerifiedDatabase,
} from '../support/money/money.js';

const whole = { shard: 0, shards: 1 };
const HOUR = 3_600_000;

/** Decision 126, "Meters that are not written". */
describe('a meter that follows its wallet', () => {
  let db: Database;
  onVerifiedDatabase((opened) => {
    db = opened.db;
  });

  let wallet: WalletRow;
  let id: RentalId;
  beforeEach(async () => {
    await db('meter_shards').delete();
    wallet = await insertWallet(db, 1_000);
    // A cent each 100 s.
    id = await insertRunning(db, wallet, { priceCents: 36, ranMs: 105_000 });
    await tick(db, whole);
  });
  afterEach(async () => {
    await askToStop(db, id);
    await tick(db, whole);
    await settleEnded(db, id);
  });

  /** Moves the start of the rental and of its meter, and nothing else. */
  async function began(ms: number): Promise<void> {
    await db.raw('alter table rentals disable trigger rentals_meter_follows');
    await db.raw(`update rentals set running_at = running_at - ? * interval '1 millisecond' where id = ?`, [
      ms,
      id,
    ]);
    await db.raw('alter table rentals enable trigger rentals_meter_follows');
    await db('meter_readings').where({ wallet_id: wallet.id }).decrement('running_ms', ms);
  }

  /** Lets this much time pass for all that metering knows. */
  async function pass(ms: number): Promise<void> {
    await began(ms);
    await db('wallets').where({ id: wallet.id }).decrement('metered_ms', ms);
    await db('meter_shards').decrement('looked_ms', ms);
  }
  const charged = async () => (await getRental(db, id)).charged_cents;
  const behind = async () => (await db('meter_shards').first())?.behind.map(Number);
  const reading = async () => db('meter_readings').where({ wallet_id: wallet.id }).first();

  it('is charged without a write, from its hold first', async () => {
    await pass(300_000);
    await tick(db, whole);
    const { charged_cents: read, hold_cents: readHold, follows_wallet: follows } = (await reading())!;
    assert.deepEqual([read, readHold, follows], [1, 35, true]);
    const rental = await getRental(db, id);
    assert.deepEqual([rental.charged_cents, rental.hold_cents], [4, 32]);
    const after = await getWallet(db, wallet.user_id);
    assert.deepEqual([after.available_cents, after.reserved_cents], [964, 32]);
  });

  it('is taken by the next look when somebody held its wallet, though no further cent came due', async () => {
    await pass(100_000);
    const holder = await db.transaction();
    try {
      await holder('wallets').where({ id: wallet.id }).forUpdate();
      await tick(db, whole);
      assert.deepEqual([await charged(), await behind()], [1, [wallet.id]]);
      await tickApart(db, whole);
      assert.deepEqual([await charged(), await behind()], [1, [wallet.id]]);
    } finally {
      await holder.rollback();
    }
    await tick(db, whole);
    assert.deepEqual([await charged(), await behind()], [2, []]);
  });

  it('is taken when its wallet rested, or was at fault, and is looked at again', async () => {
    await pass(100_000);
    await tick(db, { ...whole, resting: [wallet.id] });
    assert.deepEqual([await charged(), await behind()], [1, [wallet.id]]);
    await db('wallets')
      .where({ id: wallet.id })
      .update({ metering_blocked_at: new Date(), metering_blocked_reason: 'test' });
    await tick(db, whole);
    assert.deepEqual([await charged(), await behind()], [1, []]);
    await db('wallets')
      .where({ id: wallet.id })
      .update({ metering_blocked_at: null, metering_blocked_reason: null });
    await tickApart(db, whole);
    assert.deepEqual([await charged(), await behind()], [2, []]);
  });

  it('is taken after a pause of metering', async () => {
    await pass(100_000);
    await db.transaction((trx) => pullBrake(trx, { kind: 'metering', by: 'ada', reason: 'test' }));
    await tick(db, whole);
    assert.equal(await charged(), 1);
    await db.transaction((trx) => releaseBrake(trx, 'metering'));
    await tick(db, whole);
    assert.equal(await charged(), 2);
  });

  it('is taken by a look that knows of none before it', async () => {
    await pass(100_000);
    await tick(db, { shard: 0, shards: 1, resting: [wallet.id] });
    await db('meter_shards').delete();
    await tick(db, whole);
    assert.equal(await charged(), 2);
  });

  it('keeps its own sum while the clock stands behind its wallet', async () => {
    await db('meter_readings').where({ wallet_id: wallet.id }).update({ follows_wallet: false });
    await db('wallets').where({ id: wallet.id }).increment('metered_ms', HOUR);
    for (let turn = 2; turn < 5; turn += 1) {
      await began(100_000);
      await tick(db, whole);
      await tick(db, whole);
      assert.deepEqual([await charged(), (await reading())?.follows_wallet], [turn, false]);
    }
  });

  it('takes what was charged along when its start is moved', async () => {
    await pass(100_000);
    await tick(db, whole);
    await db('rentals')
      .where({ id })
      .update({ running_at: db.raw(`running_at + interval '1 second'`) });
    assert.equal(await charged(), 2);
    assert.deepEqual([(await reading())?.charged_cents, (await reading())?.follows_wallet], [2, false]);
  });
});
