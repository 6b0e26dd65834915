import assert from 'node:assert/strict';
import type { Database } from '../../adapters/postgres/database.js';
import { warnOfLowBalance } from '../../adapters/postgres/wallets/low-balance.js';
import { lockRental } from '../../money/rentals/rentals.js';
import { endLost } from '../../money/rentals/lost.js';
import { tick } from '../../money/metering/tick.js';
import { lockWalletOfRental } from '../../money/ledger/wallets.js';
import type { RentalId } from '../../domain/ids.js';
import { finalCents } from '../../domain/metering/metering.js';
import {
  credit,
  getRental,
  getWallet,
  insertRunning,
  insertWallet,
  onVerifiedDatabase,
} from '../support/money/money.js';

const whole = { shard: 0, shards: 1 };

describe('a lost machine and a low balance', () => {
  let db: Database;
  onVerifiedDatabase((opened) => {
    db = opened.db;
  });

  for (const { aliveMs, refunded } of [
    { aliveMs: 59_900, refunded: true },
    { aliveMs: 60_100, refunded: false },
  ]) {
    it(`${refunded ? 'refunds all of' : 'charges'} a machine that was last seen alive after ${aliveMs} ms`, async () => {
      const wallet = await insertWallet(db, 1_000);
      const id = await insertRunning(db, wallet, { priceCents: 720, ranMs: 90_000 });
      await tick(db, whole);
      const { running_at: runningAt } = await getRental(db, id);
      await db.transaction(async (trx) => {
        const locked = await lockWalletOfRental(trx, id);
        await endLost(
          trx,
          locked,
          await lockRental(trx, id),
          new Date((runningAt?.getTime() ?? 0) + aliveMs),
        );
      });
      const lost = await getRental(db, id);
      const net = lost.charged_cents - lost.refunded_cents;
      assert.deepEqual(
        [lost.status, net],
        refunded ? ['failed', 0] : ['stopping', finalCents(720, aliveMs, null)],
      );
      assert.equal((await getWallet(db, wallet.user_id)).available_cents, 1_000 - net);
      const refunds = await db('ledger_entries').where({ wallet_id: wallet.id, type: 'refund' });
      assert.equal(refunds.length, 1, 'one refund gives back what was charged beyond that');
    });
  }

  it('warns once when the wallet lasts for less than an hour, and again after a top-up', async () => {
    const wallet = await insertWallet(db, 1_000);
    const id = await insertRunning(db, wallet, { priceCents: 900, ranMs: 0 });
    const warnings = () => db('intents').where({ wallet_id: wallet.id, kind: 'low_balance' });
    await pass(id, 60_000);
    assert.equal((await warnings()).length, 0);
    await pass(id, 10 * 60_000);
    const [intent] = await warnings();
    await warnOfLowBalance(db, intent?.id ?? 0);
    await pass(id, 60_000);
    assert.equal((await warnings()).length, 1, 'one warning for one crossing');
    await credit(db, wallet.user_id, 2_000);
    await pass(id, 60_000);
    assert.equal((await getWallet(db, wallet.user_id)).low_since, null);
    await pass(id, 150 * 60_000);
    assert.equal((await warnings()).length, 2);
    const mails = await db('mail_outbox').where('cause', 'like', `low_balance:${wallet.id}:%`);
    assert.equal(mails.length, 1);
    assert.match(mails[0]?.body ?? '', /enough for about \d+ minutes/);
  });

  /** Lets time pass for a rental, and ticks. */
  async function pass(id: RentalId, ms: number): Promise<void> {
    await db('rentals')
      .where({ id })
      .update({ running_at: db.raw(`running_at - ? * interval '1 millisecond'`, [ms]) });
    await tick(db, whole);
  }
});
