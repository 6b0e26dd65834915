import assert from 'node:assert/strict';
import type { Database } from '../../../adapters/postgres/database.js';
import { pullBrake, releaseBrake } from '../../../adapters/postgres/operators/brakes.js';
import type { WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { tick } from '../../../money/metering/tick.js';
import { settleEnded } from '../../../money/rentals/lifecycle.js';
import { applyReversal } from '../../../money/reversals/reversals.js';
import {
  askToStop,
  billedMs,
  getRental,
  getWallet,
  insertRunning,
  insertWallet,
  onVerifiedDatabase,
} from '../../support/money/money.js';
import { VirtualClock } from '../../support/money/virtual-clock.js';

const SECOND = 1_000;
const whole = { shard: 0, shards: 1 };

describe('a reversal while a rental runs', () => {
  let db: Database;
  let clock: VirtualClock;
  onVerifiedDatabase(async (opened) => {
    ({ db } = opened);
    clock = await VirtualClock.install(db);
  });

  /** Takes back all that was paid in. @returns the cents that were debited and invoiced */
  async function reverse({ user_id: userId, available_cents: cents }: WalletRow): Promise<[number, number]> {
    const row = await applyReversal(db, {
      ...{ id: `re_${userId}`, kind: 'refund', status: 'succeeded', amountCents: cents, paymentId: userId },
      ...{ userId, paymentCents: cents, credited: true, taken: true, returned: false, closed: true },
    });
    return [row.debited_cents, row.invoiced_cents];
  }

  const pause = () =>
    db.transaction((trx) => pullBrake(trx, { kind: 'metering', by: 'ada', reason: 'test' }));
  const resume = () => db.transaction((trx) => releaseBrake(trx, 'metering'));
  afterEach(resume);

  for (const [when, before, after] of [
    ['however late the tick is', () => undefined, () => undefined],
    ['also while metering is paused', pause, resume],
  ] as const)
    it(`takes none of the money that is owed already, ${when}`, async () => {
      const wallet = await insertWallet(db, 1_000);
      // A cent a second, of which nothing is charged yet.
      const id = await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 0, holdCents: 100 });
      await before();
      await clock.pass(500 * SECOND);
      assert.deepEqual(await reverse(wallet), [500, 500]);
      await clock.pass(SECOND);
      await after();
      await tick(db, whole);
      const { available_cents: available, reserved_cents: reserved } = await getWallet(db, wallet.user_id);
      assert.deepEqual([available, reserved], [0, 0]);
      const rental = await getRental(db, id);
      assert.deepEqual([billedMs(rental), rental.charged_cents], [500 * SECOND, 500]);
    });

  it('leaves what was used until a stop and a limit, and nothing for the time after them', async () => {
    const wallet = await insertWallet(db, 1_000);
    const some = { priceCents: 3_600, ranMs: 0, holdCents: 50 };
    const stopped = await insertRunning(db, wallet, some);
    const limited = await insertRunning(db, wallet, { ...some, autoStopAfterMs: 200 * SECOND });
    const short = await insertRunning(db, wallet, { ...some, autoStopAfterMs: 20 * SECOND });
    await clock.pass(100 * SECOND);
    await askToStop(db, stopped);
    await clock.pass(400 * SECOND);
    // 100 and 200 cents were used, and a hold's rest belongs to its own rental.
    assert.deepEqual(await reverse(wallet), [650, 350]);
    await tick(db, whole);
    for (const id of [stopped, limited, short]) await settleEnded(db, id);
    assert.equal((await getWallet(db, wallet.user_id)).available_cents, 30);
  });
});
