import assert from 'node:assert/strict';
import type { Database } from '../../adapters/postgres/database.js';
import { lockWalletOfRental } from '../../money/ledger/wallets.js';
import { endLost } from '../../money/rentals/lost.js';
import { lockRental, type ReadyBy } from '../../money/rentals/rentals.js';
import { getRental, insertRunning, insertWallet, onVerifiedDatabase } from '../support/money/money.js';

describe('own software that is lost in its first minute (decision 155, "Ready or not")', () => {
  let db: Database;
  onVerifiedDatabase(async (opened) => {
    db = opened.db;
    await db('providers').insert({ code: 'lab' }).onConflict('code').ignore();
  });

  async function loseAfter(ms: number, ready_by: ReadyBy) {
    const wallet = await insertWallet(db, 10_000);
    const id = await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 40_000 });
    await db('rentals').where({ id }).update({ ready_by });
    await db.transaction(async (trx) => {
      const locked = await lockWalletOfRental(trx, id);
      const rental = await lockRental(trx, id);
      await endLost(trx, locked, rental, new Date(rental.running_at!.getTime() + ms));
    });
    return getRental(db, id);
  }

  it('is billed where it never answered, and refunded where it did', async () => {
    const never = await loseAfter(30_000, 'grace');
    assert.deepEqual(
      [never.status, never.stop_reason, never.charged_cents - never.refunded_cents],
      ['stopping', 'pod_lost', 30],
    );
    for (const readyBy of ['port', 'ssh'] as const) {
      const answered = await loseAfter(30_000, readyBy);
      assert.deepEqual(
        [answered.status, answered.charged_cents - answered.refunded_cents],
        ['failed', 0],
        readyBy,
      );
    }
  });
});
