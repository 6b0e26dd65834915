import assert from 'node:assert/strict';
import type { Database } from '../../adapters/postgres/database.js';
import { warnOfLowBalance } from '../../adapters/postgres/wallets/low-balance.js';
import { tick } from '../../money/metering/tick.js';
import type { RentalId } from '../../domain/ids.js';
import {
  credit,
  getWallet,
  insertRunning,
  insertWallet,
  onVerifiedDatabase,
} from '../support/money/money.js';

const whole = { shard: 0, shards: 1 };

describe('a low balance', () => {
  let db: Database;
  onVerifiedDatabase((opened) => {
    db = opened.db;
  });

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
