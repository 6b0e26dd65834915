import assert from 'node:assert/strict';
import { ensureProvider } from '../../adapters/postgres/catalog/catalog.js';
import type { Database } from '../../adapters/postgres/database.js';
import { lockRental } from '../../money/rentals/rentals.js';
import { settle } from '../../money/rentals/settle.js';
import { tick } from '../../money/metering/tick.js';
import { lockWalletOfRental } from '../../money/ledger/wallets.js';
import { verifyLedger, verifyRecent } from '../../adapters/postgres/ledger/verify.js';
import type { RentalId } from '../../domain/ids.js';
import {
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
  type NewRunning,
} from '../support/money/money.js';

const whole = { shard: 0, shards: 1 };

/**
 * Each rental is settled correctly. Then its evidence is changed to an earlier or a later end, like the rows of release
 * 0.1 where it billed a lost machine beyond its limits.
 */
describe('ledger verify derives the end of each settled rental by itself (decision 78)', () => {
  let database: MoneyDatabase;
  let db: Database;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    await ensureProvider(db, 'lab');
  });
  after(() => database.close());

  it('finds one that was billed beyond its auto-stop', async () => {
    const id = await settled({ ranMs: 1_190_000, autoStopAfterMs: 1_190_000 });
    await change(id, `update rentals set auto_stop_at = running_at + interval '600 seconds' where id = :id`);
    await findsOnly(id, /settled at 1190, the formula says 600; it is billed until .+ and ended at /);
  });

  it('finds one that was billed beyond its spend limit', async () => {
    const id = await settled({ ranMs: 1_300_000, maxSpendCents: 1_190 });
    await change(id, `update rentals set max_spend_cents = 600 where id = :id`);
    await findsOnly(id, /settled at 1190, the formula says 600; it is billed until/);
  });

  it('finds one whose limit was lowered below what had accrued', async () => {
    const id = await settled({ ranMs: 1_300_000, maxSpendCents: 600 });
    await change(
      id,
      `insert into rental_changes (id, rental_no, user_id, asked, answer_before, answered_at, limits_at)
       select replace(id, 'rent_', 'chg_'), no, user_id, '{"maxSpendCents": 600}', clock_ms(), clock_ms(),
              running_at + interval '1000 seconds' from rentals where id = :id`,
    );
    await findsOnly(
      id,
      /settled at 600, the formula says 600; a limit was lowered below what had accrued by then/,
    );
  });

  it('finds one that was billed beyond its stop, even by less than a cent', async () => {
    const id = await settled({ ranMs: 700_000 }, 600_200);
    await change(id, `update rentals set ended_at = ended_at + interval '200 milliseconds' where id = :id`);
    await findsOnly(id, /settled at 600, the formula says 600; it is billed until/);
  });

  it('lets a tick that ran while a stop was committed keep its cent, and nothing more', async () => {
    const id = await settled({ ranMs: 600_000 }, 600_000);
    await change(
      id,
      `update stop_requests set requested_at = requested_at - interval '900 milliseconds' where rental_no = :no`,
    );
    await findsNothing(id);
    await change(
      id,
      `update stop_requests set requested_at = requested_at - interval '2 minutes' where rental_no = :no`,
    );
    await findsOnly(id, /settled at 600, the formula says 539; it is billed until/);
  });

  it('finds one that was billed beyond the moment at which its machine was last seen alive', async () => {
    const id = await settled({ ranMs: 700_000 }, 600_000);
    await change(
      id,
      `insert into lost_machines (rental_no, last_alive_at)
       select no, running_at + interval '300 seconds' from rentals where id = :id`,
    );
    await findsOnly(id, /settled at 600, the formula says 300; it is billed until/);
  });

  it('finds one whose machine was gone long before it was settled as stopped', async () => {
    const id = await settled({ ranMs: 700_000 }, 600_000);
    await change(
      id,
      `insert into pods (provider_code, pod_id, tag, status, upstream_status, first_seen_at, last_alive_at, gone_at)
       select provider_code, pod_id, tag, 'active', 'active', running_at, running_at + interval '300 seconds',
              running_at + interval '310 seconds' from rentals where id = :id`,
    );
    await findsOnly(id, /settled at 600, the formula says 300; it is billed until/);
  });

  it('finds one that ended later than its money, and one that ended sooner', async () => {
    for (const shift of ['1 second', '-1 second']) {
      const wallet = await insertWallet(db, 150);
      const id = await insertRunning(db, wallet, { priceCents: 36_000, holdCents: 100, ranMs: 16_000 });
      await tick(db, whole);
      await settleNow(id);
      await findsNothing(id);
      await change(id, `update rentals set ended_at = ended_at + interval '${shift}' where id = :id`);
      await findsOnly(id, /billed until .+ and ended at/);
      await change(id, `update rentals set ended_at = ended_at - interval '${shift}' where id = :id`);
    }
  });

  it('finds one that nothing ended', async () => {
    const id = await settled({ ranMs: 700_000 }, 600_000);
    await change(id, `delete from stop_requests where rental_no = :no`);
    await findsOnly(id, /nothing that is kept ended it/);
  });

  it('finds one that was refunded in full although its machine lived longer than a minute', async () => {
    const wallet = await insertWallet(db, 5_000);
    const id = await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 70_000 });
    await change(
      id,
      `update rentals set status = 'failed', error = 'lost', settled_at = clock_ms(), hold_cents = 0,
              ended_at = running_at + interval '70 seconds', released_cents = 3600 where id = :id`,
    );
    await change(
      id,
      `update wallets set available_cents = available_cents + 3600, reserved_cents = reserved_cents - 3600
        where id = (select wallet_id from rentals where id = :id)`,
    );
    await findsNothing(id);
    await change(
      id,
      `insert into lost_machines (rental_no, last_alive_at) select no, ended_at from rentals where id = :id`,
    );
    await findsOnly(id, /it failed, and was last seen alive later than the first minute/);
  });

  /** A rental at a cent each second, stopped by its user this long after its start, or by its limit. */
  async function settled(rental: Omit<NewRunning, 'priceCents'>, stopMs?: number): Promise<RentalId> {
    const wallet = await insertWallet(db, 10_000);
    const id = await insertRunning(db, wallet, { priceCents: 3_600, ...rental });
    if (stopMs !== undefined) {
      await change(
        id,
        `insert into stop_requests (rental_no, requested_by, requested_at)
         select no, 'user', running_at + interval '${stopMs} milliseconds' from rentals where id = :id`,
      );
    }
    await tick(db, whole);
    await settleNow(id);
    await findsNothing(id);
    return id;
  }

  async function settleNow(id: RentalId): Promise<void> {
    await db.transaction(async (trx) => {
      const wallet = await lockWalletOfRental(trx, id);
      await settle(trx, wallet, await lockRental(trx, id));
    });
  }

  async function change(id: RentalId, statement: string): Promise<void> {
    const { no } = (await db('rentals').where({ id }).first('no')) ?? { no: 0 };
    await db.raw(statement.replaceAll(':id', `'${id}'`).replaceAll(':no', String(no)));
  }

  async function findsNothing(id: RentalId): Promise<void> {
    assert.deepEqual(await findingsOf(id), [[], []]);
  }

  async function findsOnly(id: RentalId, detail: RegExp): Promise<void> {
    for (const found of await findingsOf(id)) {
      assert.deepEqual(
        found.map(({ rule, rentalId }) => ({ rule, rentalId })),
        [{ rule: 'price', rentalId: id }],
      );
      assert.match(found[0]?.detail ?? '', detail);
    }
  }

  async function findingsOf(id: RentalId) {
    const { user_id: userId } = (await db('rentals').where({ id }).first('user_id')) ?? assert.fail();
    const recent = await verifyRecent(db, new Date(0));
    return [await verifyLedger(db, userId), recent.filter(({ rentalId }) => rentalId === id)];
  }
});
