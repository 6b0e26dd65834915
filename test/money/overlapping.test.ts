import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { Database } from '../../adapters/postgres/database.js';
import { meterWallets } from '../../money/metering/meter.js';
import { insertRental, lockRental, startRunning } from '../../money/rentals/rentals.js';
import { applyReversal } from '../../money/reversals/reversals.js';
import { settle } from '../../money/rentals/settle.js';
import { tick } from '../../money/metering/tick.js';
import { lockWalletOfRental, lockWalletOfUser, moveHold, reread } from '../../money/ledger/wallets.js';
import type { WalletRow } from '../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from '../support/money/kept-plan.js';
import type { RentalId } from '../../domain/ids.js';
import {
  credit,
  getRental,
  getWallet,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../support/money/money.js';
import { dueOf, type Asked } from '../support/money/rental-oracle.js';

const whole = { shard: 0, shards: 1 };
const address = { host: '127.0.0.1', port: 22, username: 'ubuntu', hostKeyFingerprint: null };

describe('money that many move at once', () => {
  let database: MoneyDatabase;
  let db: Database;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
  });
  after(() => database.close());

  for (const whose of ['user', 'rental'] as const) {
    it(`is locked with the wallet of a ${whose}: whoever comes second waits`, async () => {
      const wallet = await insertWallet(db, 1_000);
      const id = await db.transaction((trx) => open(trx, wallet));
      const lock = (trx: Parameters<typeof lockWalletOfUser>[0]) =>
        whose === 'user' ? lockWalletOfUser(trx, wallet.user_id) : lockWalletOfRental(trx, id);
      await db.transaction(async (holder) => {
        await lock(holder);
        await assert.rejects(
          db.transaction(async (trx) => {
            await trx.raw(`set local lock_timeout = '100ms'`);
            await lock(trx);
          }),
          { code: '55P03' },
        );
      });
    });
  }

  it('stays exact while engines tick, and rentals are opened, stopped, settled, paid and reversed among them', async () => {
    const wallet = await insertWallet(db, 100_000);
    const rentals: RentalId[] = [];
    const settled = new Set<RentalId>();
    const done = { ticks: 0, reversed: 0, credited: 0 };
    const haveOverlapped = (): boolean => done.ticks > 20 && Math.min(done.reversed, rentals.length) > 20;
    const during = async (work: () => Promise<unknown>): Promise<void> => {
      while (!haveOverlapped()) await work();
    };
    const engine = async (): Promise<void> => {
      const { entries } = await tick(db, whole);
      done.ticks += entries;
    };
    const opener = async (): Promise<void> => {
      rentals.push(await db.transaction((trx) => open(trx, wallet)));
      await pause(20);
    };
    // A transaction of its own settles each stop at once, while the engines go on.
    const ender = async (): Promise<void> => {
      const id = rentals.find((each) => !settled.has(each));
      if (id === undefined) return pause(5);
      settled.add(id);
      await pause(100);
      await db.raw(
        `insert into stop_requests (rental_no, requested_by) select no, 'user' from rentals where id = ?`,
        [id],
      );
      await settleWhenEnded(id);
    };
    const reverser = async (): Promise<void> => {
      done.reversed += 1;
      await applyReversal(db, {
        ...{ id: `re_${newId('op')}`, kind: 'refund', status: 'succeeded', amountCents: 60 },
        ...{ paymentId: `pi_${newId('op')}`, userId: wallet.user_id, paymentCents: 60, credited: true },
        ...{ taken: true, returned: false, closed: true },
      });
      await pause(15);
    };
    const payer = async (): Promise<void> => {
      done.credited += 1;
      await credit(db, wallet.user_id, 100);
      await pause(10);
    };
    await Promise.all([
      ...[engine, engine, opener, ender, ender, reverser, payer].map((work) => during(work)),
    ]);
    for (const id of rentals) {
      if (!settled.has(id)) {
        await db.raw(
          `insert into stop_requests (rental_no, requested_by) select no, 'user' from rentals where id = ?`,
          [id],
        );
      }
      await settleWhenEnded(id);
    }
    let net = 0;
    for (const id of rentals) {
      const { charged_cents: charged, refunded_cents: refunded } = await getRental(db, id);
      assert.equal(charged - refunded, await dueOf(db, id, asked));
      net += charged - refunded;
    }
    const after = await getWallet(db, wallet.user_id);
    const left = 100_000 + 100 * done.credited - 60 * done.reversed - net;
    assert.deepEqual([after.available_cents, after.reserved_cents], [left, 0]);
    assert.deepEqual(await verifyLedgerAgain(db), []);
  });

  /** Ten dollars a second: each tick charges, and a millisecond too much is a cent. */
  const asked: Asked = { priceCents: 3_600_000, maxSpendCents: null, autoStopMs: null };

  /** Opens a running rental under the wallet's lock with a hold of its own, as the activity does. */
  async function open(trx: Parameters<typeof lockWalletOfUser>[0], wallet: WalletRow): Promise<RentalId> {
    const locked = await lockWalletOfUser(trx, wallet.user_id);
    await meterWallets(trx, [locked.id]);
    const { seq } = await reread(trx, locked);
    const id = newId('rent');
    await moveHold(trx, locked, 50);
    await insertRental(trx, {
      ...{ id, wallet_id: wallet.id, user_id: wallet.user_id, name: null, family: 'rtx-4090' },
      ...{ model: 'RTX_4090', gpu_count: 1, region: 'Oslo', region_code: 'NO', interconnect: 'pcie' },
      ...{ template_id: 'ubuntu-24-04', ssh_key_ids: [], listing_id: newId('lst'), provider_code: 'lab' },
      ...{ tag: `test-${id}-1`, pod_id: `pod-${id}`, price_per_hour_cents: 50, max_spend_cents: null },
      ...{ auto_stop_after_ms: null, opened_seq: seq },
    });
    await trx('rentals').where({ id }).update({ price_per_hour_cents: asked.priceCents });
    await startRunning(trx, await lockRental(trx, id), { address, readyBy: 'ssh' });
    return id;
  }

  async function settleWhenEnded(id: RentalId): Promise<void> {
    await db.transaction(async (trx) => {
      const wallet = await lockWalletOfRental(trx, id);
      await meterWallets(trx, [wallet.id]);
      const rental = await lockRental(trx, id);
      if (rental.status === 'stopping') await settle(trx, await reread(trx, wallet), rental);
    });
  }
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
