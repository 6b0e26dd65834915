import assert from 'node:assert/strict';
import type { Database } from '../../../adapters/postgres/database.js';
import { tick } from '../../../money/metering/tick.js';
import { applyReversal } from '../../../money/reversals/reversals.js';
import {
  billedMs,
  getRental,
  getWallet,
  insertRunning,
  insertWallet,
  onVerifiedDatabase,
} from '../../support/money/money.js';
import { VirtualClock } from '../../support/money/virtual-clock.js';

const SECOND = 1_000;

describe('a reversal while a rental runs', () => {
  let db: Database;
  let clock: VirtualClock;
  onVerifiedDatabase(async (opened) => {
    ({ db } = opened);
    clock = await VirtualClock.install(db);
  });

  it('takes none of the money that is owed already, however late the tick is', async () => {
    const wallet = await insertWallet(db, 1_000);
    // A cent a second, of which nothing is charged yet.
    const id = await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 0, holdCents: 100 });
    await clock.pass(500 * SECOND);
    const row = await applyReversal(db, {
      ...{ id: 're_1', kind: 'refund', status: 'succeeded', amountCents: 1_000, paymentId: 'pi_1' },
      ...{
        userId: wallet.user_id,
        paymentCents: 1_000,
        credited: true,
        taken: true,
        returned: false,
        closed: true,
      },
    });
    assert.deepEqual([row.debited_cents, row.invoiced_cents], [500, 500]);
    await clock.pass(SECOND);
    await tick(db, { shard: 0, shards: 1 });
    const { available_cents: available, reserved_cents: reserved } = await getWallet(db, wallet.user_id);
    assert.deepEqual([available, reserved], [0, 0]);
    const rental = await getRental(db, id);
    assert.deepEqual([billedMs(rental), rental.charged_cents], [500 * SECOND, 500]);
  });
});
