import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Database } from '../../adapters/postgres/database.js';
import { lockRental } from '../../money/rentals/rentals.js';
import { settle } from '../../money/rentals/settle.js';
import { tick, tickApart } from '../../money/metering/tick.js';
import { lockWalletOfRental } from '../../money/ledger/wallets.js';
import type { RentalId } from '../../domain/ids.js';
import { elapsedMsAtCents, finalCents } from '../../domain/metering/metering.js';
import {
  askToStop,
  billedMs,
  credit,
  getRental,
  getWallet,
  insertRunning,
  insertWallet,
  onVerifiedDatabase,
} from '../support/money/money.js';
import { beginEarlier } from '../support/money/begin-earlier.js';
import {
  betweenTicks,
  checkTick,
  insertModel,
  setLimits,
  someWallets,
} from '../support/money/modelled-ticks.js';
import { VirtualClock } from '../support/money/virtual-clock.js';

const whole = { shard: 0, shards: 1 };
const HOUR = 3_600_000;

describe('metering', () => {
  let db: Database;
  // A tick reads the clock twice, to look and to meter: by one that stands still, both are the same instant.
  let clock: VirtualClock;
  onVerifiedDatabase(async (opened) => {
    db = opened.db;
    clock = await VirtualClock.install(db);
  });

  async function settleEnded(id: RentalId): Promise<void> {
    await db.transaction(async (trx) => {
      const wallet = await lockWalletOfRental(trx, id);
      await settle(trx, wallet, await lockRental(trx, id));
    });
  }

  it('charges the whole cents that have come due, first from the hold, then from available', async () => {
    const wallet = await insertWallet(db, 1_000);
    const id = await insertRunning(db, wallet, { priceCents: 100, ranMs: 2.5 * HOUR });
    await tick(db, whole);
    const rental = await getRental(db, id);
    assert.equal(rental.charged_cents, 250);
    assert.equal(rental.hold_cents, 0);
    const after = await getWallet(db, wallet.user_id);
    assert.equal(after.available_cents, 750);
    assert.equal(after.reserved_cents, 0);
  });

  it('writes nothing when less than a cent is due, and catches up exactly after a gap', async () => {
    const wallet = await insertWallet(db, 1_000);
    const id = await insertRunning(db, wallet, { priceCents: 36, ranMs: 99_000 });
    await tick(db, whole);
    assert.equal((await getRental(db, id)).charged_cents, 0);
    await beginEarlier(db, [id], 3_600);
    await tick(db, whole);
    assert.equal((await getRental(db, id)).charged_cents, 36);
  });

  it('ends a rental at its auto-stop instant, however late it is noticed', async () => {
    const wallet = await insertWallet(db, 1_000);
    const id = await insertRunning(db, wallet, {
      priceCents: 100,
      ranMs: 5 * HOUR,
      autoStopAfterMs: 2 * HOUR,
    });
    await tick(db, whole);
    const rental = await getRental(db, id);
    assert.equal(rental.status, 'stopping');
    assert.equal(rental.stop_reason, 'auto_stop');
    assert.equal(billedMs(rental), 2 * HOUR);
    await settleEnded(id);
    assert.equal((await getRental(db, id)).charged_cents, 200);
  });

  it('bills until a limit, and says so, though a later end was written', async () => {
    const wallet = await insertWallet(db, 1_000);
    const id = await insertRunning(db, wallet, {
      ...{ priceCents: 100, ranMs: 3 * HOUR, autoStopAfterMs: 2 * HOUR },
    });
    await db.raw(
      `update rentals set status = 'stopping', stop_reason = 'user', ended_at = clock_ms() where id = ?`,
      [id],
    );
    await settleEnded(id);
    const rental = await getRental(db, id);
    assert.deepEqual([billedMs(rental), rental.charged_cents], [2 * HOUR, 200]);
  });

  it('ends a rental at its spend limit, exact to the cent', async () => {
    const wallet = await insertWallet(db, 1_000);
    const id = await insertRunning(db, wallet, { priceCents: 77, ranMs: 5 * HOUR, maxSpendCents: 123 });
    await tick(db, whole);
    await settleEnded(id);
    const rental = await getRental(db, id);
    assert.equal(rental.stop_reason, 'spend_limit');
    assert.equal(rental.charged_cents, 123);
  });

  it('ends a rental at the instant of its stop request and gives the rest of the hold back', async () => {
    const wallet = await insertWallet(db, 1_000);
    const id = await insertRunning(db, wallet, { priceCents: 360, ranMs: 60_000 });
    await askToStop(db, id);
    await tick(db, whole);
    await settleEnded(id);
    const rental = await getRental(db, id);
    assert.equal(rental.stop_reason, 'user');
    const price = finalCents(360, billedMs(rental), null);
    assert.equal(rental.charged_cents, price);
    assert.equal(rental.released_cents, 360 - price);
    const after = await getWallet(db, wallet.user_id);
    assert.deepEqual([after.available_cents, after.reserved_cents], [1_000 - price, 0]);
  });

  /** An end that is written after a cent beyond it was charged: by a clock that stood behind, or by hand. */
  const earlierEnds = {
    user: (id: RentalId) =>
      db.raw(
        `insert into stop_requests (rental_no, requested_by, requested_at)
         select no, 'user', running_at + interval '1 hour' from rentals where id = ?`,
        [id],
      ),
    auto_stop: (id: RentalId) =>
      db.raw(`update rentals set auto_stop_at = running_at + interval '1 hour' where id = ?`, [id]),
  } as const;
  for (const [reason, endEarlier] of Object.entries(earlierEnds)) {
    it(`ends a rental no earlier than its last charged cent (${reason})`, async () => {
      const wallet = await insertWallet(db, 1_000);
      const id = await insertRunning(db, wallet, { priceCents: 100, ranMs: 2.5 * HOUR });
      await tick(db, whole);
      await endEarlier(id);
      await tick(db, whole);
      const ended = await getRental(db, id);
      assert.deepEqual(
        [ended.stop_reason, ended.charged_cents, billedMs(ended)],
        [reason, 250, elapsedMsAtCents(100, 250)],
      );
    });
  }

  it('ends a rental in the tick that cannot pay the next cent, at the millisecond its money ended', async () => {
    // 36,000 cents an hour are a cent each 100 ms. 150 cents last 15,000 ms; the next cent is due at 15,100 ms.
    const wallet = await insertWallet(db, 150);
    const id = await insertRunning(db, wallet, { priceCents: 36_000, holdCents: 100, ranMs: 16_000 });
    await tick(db, whole);
    const rental = await getRental(db, id);
    assert.equal(rental.stop_reason, 'balance_exhausted');
    assert.equal(billedMs(rental), elapsedMsAtCents(36_000, 150));
    await settleEnded(id);
    const settled = await getRental(db, id);
    assert.deepEqual([settled.charged_cents, settled.overage_cents, settled.written_off_cents], [150, 0, 0]);
  });

  it('makes the uncovered part overage when ticks came more than 5 s late', async () => {
    const wallet = await insertWallet(db, 150);
    const id = await insertRunning(db, wallet, { priceCents: 36_000, holdCents: 100, ranMs: 40_000 });
    await tick(db, whole);
    await settleEnded(id);
    const rental = await getRental(db, id);
    assert.ok(billedMs(rental) >= 40_000);
    assert.equal(rental.charged_cents, 150);
    assert.equal(
      rental.charged_cents + rental.overage_cents + rental.written_off_cents,
      finalCents(36_000, billedMs(rental), null),
    );
    const invoice = await db('invoices').where({ rental_no: rental.no }).first();
    assert.equal(invoice?.amount_cents, rental.overage_cents);
    assert.equal(invoice.reason, 'overage');
  });

  it('lets siblings share what is available in their order, and no cent twice', async () => {
    const wallet = await insertWallet(db, 100);
    const [elder, younger] = [
      await insertRunning(db, wallet, { priceCents: 36_000, holdCents: 0, ranMs: 8_000 }),
      await insertRunning(db, wallet, { priceCents: 36_000, holdCents: 0, ranMs: 8_000 }),
    ];
    await tick(db, whole);
    const [first, second] = [await getRental(db, elder), await getRental(db, younger)];
    assert.equal(first.charged_cents + second.charged_cents, 100);
    assert.ok(first.charged_cents >= 80, 'the elder is paid in full');
    assert.deepEqual([first.status, second.stop_reason], ['running', 'balance_exhausted']);
    await settleEnded(younger);
    await askToStop(db, elder);
    await tick(db, whole);
    await settleEnded(elder);
  });

  it('numbers what is paid from holds without a gap where elder siblings pay nothing', async () => {
    // Each owes 90 cents. The first takes the 80 that are available, the others have these holds.
    const wallet = await insertWallet(db, 150);
    const ids: RentalId[] = [];
    for (const holdCents of [0, 0, 30, 0, 40])
      ids.push(await insertRunning(db, wallet, { priceCents: 36_000, holdCents, ranMs: 9_000 }));
    await tick(db, whole);
    const rentals = await Promise.all(ids.map(async (id) => getRental(db, id)));
    assert.deepEqual(
      rentals.map((rental) => rental.charged_cents),
      [80, 0, 30, 0, 40],
    );
    const entries = await db('ledger_entries')
      .where({ wallet_id: wallet.id, type: 'rental_charge' })
      .orderBy('seq');
    assert.deepEqual(
      entries.map(({ seq, rental_no: no, balance_after_cents: balance }) => [seq, no, balance]),
      [
        [2, rentals[0]!.no, 70],
        [3, rentals[2]!.no, 40],
        [4, rentals[4]!.no, 0],
      ],
    );
    for (const id of ids) await settleEnded(id);
  });

  it('waits for an open auto-topup up to 30 s, takes the due when the credit comes', async () => {
    const wallet = await insertWallet(db, 100);
    const id = await insertRunning(db, wallet, { priceCents: 36_000, holdCents: 100, ranMs: 12_000 });
    await db('intents').insert({ kind: 'auto_topup', wallet_id: wallet.id });
    await tick(db, whole);
    assert.equal((await getRental(db, id)).status, 'running');
    await credit(db, wallet.user_id, 5_000);
    await tick(db, whole);
    const rental = await getRental(db, id);
    assert.equal(rental.status, 'running');
    assert.equal((await db('meters').where({ rental_no: rental.no }).first())?.starved_ms, null);
    assert.ok(rental.charged_cents >= 120);
  });

  it('ends at the instant the money ended when no credit came within 30 s', async () => {
    const wallet = await insertWallet(db, 100);
    const id = await insertRunning(db, wallet, { priceCents: 36_000, holdCents: 100, ranMs: 12_000 });
    await db('intents').insert({ kind: 'auto_topup', wallet_id: wallet.id });
    await tick(db, whole);
    await db('meters')
      .where({ rental_no: (await getRental(db, id)).no })
      .update({ starved_ms: db.raw('starved_ms - 31000') });
    await tick(db, whole);
    const rental = await getRental(db, id);
    assert.equal(rental.stop_reason, 'balance_exhausted');
    assert.equal(billedMs(rental), elapsedMsAtCents(36_000, 100));
  });

  it('leaves one end_rental intent for a rental that ended', async () => {
    const wallet = await insertWallet(db, 1_000);
    const id = await insertRunning(db, wallet, { priceCents: 100, ranMs: HOUR, autoStopAfterMs: 1_000 });
    await tick(db, whole);
    await tick(db, whole);
    const { no } = await getRental(db, id);
    assert.equal((await db('intents').where({ rental_no: no, kind: 'end_rental' })).length, 1);
    await settleEnded(id);
    assert.equal((await db('intents').where({ rental_no: no }).whereNull('acknowledged_at')).length, 0);
  });

  it('isolates one broken wallet and meters all others', async () => {
    const broken = await insertWallet(db, 1_000);
    const brokenId = await insertRunning(db, broken, { priceCents: 100, ranMs: HOUR });
    const fine = await insertWallet(db, 1_000);
    const fineId = await insertRunning(db, fine, { priceCents: 100, ranMs: HOUR });
    // A running instant in the far past overflows the int that holds the due cents.
    await db('rentals')
      .where({ id: brokenId })
      .update({ running_at: new Date(-200_000_000_000_000), price_per_hour_cents: 10_000_000 });
    await assert.rejects(tick(db, whole));
    const result = await tickApart(db, whole);
    assert.deepEqual(
      result.blocked.map(({ walletId }) => walletId),
      [broken.id],
    );
    assert.equal((await getRental(db, fineId)).charged_cents, 100);
    assert.notEqual((await getWallet(db, broken.user_id)).metering_blocked_reason, null);
    await db('rentals')
      .where({ id: brokenId })
      .update({ running_at: db.raw('clock_ms()'), price_per_hour_cents: 100 });
    await db('wallets')
      .where({ id: broken.id })
      .update({ metering_blocked_at: null, metering_blocked_reason: null });
  });

  it('makes of a rental in SQL what the domain makes of it', async () => {
    const reasons = new Set<string>();
    await fc.assert(
      fc.asyncProperty(someWallets, betweenTicks, async (asked, passedMs) => {
        const models = await Promise.all(asked.map((one) => insertModel(db, one)));
        for (const round of [0, 1] as const) {
          for (const { rentals } of models) for (const one of rentals) await setLimits(db, one, round);
          await tick(db, whole);
          const now = new Date(await clock.nowMs());
          for (const model of models) {
            await checkTick(db, model, now);
            for (const { reason } of model.rentals) reasons.add(reason ?? 'goes on');
          }
          await clock.pass(passedMs);
        }
      }),
      // Shrinking would tick for minutes.
      { numRuns: 4, endOnFailure: true },
    );
    const all = ['auto_stop', 'balance_exhausted', 'goes on', 'spend_limit', 'user'];
    assert.deepEqual([...reasons].sort(), all, 'each way of ending was met');
  });

  it('keeps a wallet that differs from its ledger from moving on, and lets it be repaired', async () => {
    const wallet = await insertWallet(db, 1_000);
    const id = await insertRunning(db, wallet, { priceCents: 100, ranMs: HOUR });
    const add = (cents: number) => db('wallets').where({ id: wallet.id }).increment('available_cents', cents);
    await db.raw('alter table wallets disable trigger wallets_changed');
    await add(-1);
    await db.raw('alter table wallets enable trigger wallets_changed');
    await assert.rejects(tick(db, whole), { constraint: 'ledger_chain' });
    await add(1);
    await tick(db, whole);
    assert.equal((await getRental(db, id)).charged_cents, 100);
  });

  it('marks a wallet that differs from its ledger, or leaves it to a later tick, and meters all others', async () => {
    const wallets = await Promise.all([1, 2, 3].map(() => insertWallet(db, 1_000)));
    const ids = await Promise.all(
      wallets.map((wallet) => insertRunning(db, wallet, { priceCents: 100, ranMs: HOUR })),
    );
    const [, broken] = wallets;
    const ofBroken = () => db('wallets').where({ id: broken!.id });
    const charged = async () => Promise.all(ids.map(async (id) => (await getRental(db, id)).charged_cents));
    await db.raw('alter table wallets disable trigger wallets_changed');
    await ofBroken().increment('available_cents', 1);
    await db.raw('alter table wallets enable trigger wallets_changed');
    await assert.rejects(tick(db, whole), { constraint: 'ledger_chain' });
    await db.raw('alter table wallets add constraint unmarked check (metering_blocked_at is null) not valid');
    const left = await tickApart(db, whole);
    assert.deepEqual([left.blocked, left.heldUp, await charged()], [[], [broken!.id], [100, 0, 100]]);
    await db.raw('alter table wallets drop constraint unmarked');
    const { blocked } = await tickApart(db, whole);
    assert.deepEqual(
      blocked.map(({ walletId }) => walletId),
      [broken!.id],
    );
    await tick(db, whole);
    assert.deepEqual(await charged(), [100, 0, 100]);
    await ofBroken().decrement('available_cents', 1);
    await ofBroken().update({ metering_blocked_at: null, metering_blocked_reason: null });
    await tick(db, whole);
    assert.deepEqual(await charged(), [100, 100, 100]);
  });

  it('looks at a meter from the very millisecond in which a cent more is due', async () => {
    const wallet = await insertWallet(db, 1_000);
    const { no } = await getRental(db, await insertRunning(db, wallet, { priceCents: 100, ranMs: 0 }));
    const startedMs = Date.now();
    const trx = await db.transaction();
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 10_000_000 }),
          fc.integer({ min: 0, max: 1_000_000_000 }),
          fc.option(fc.integer({ min: 0, max: 400 * 24 * HOUR })),
          async (priceCents, charged, limitMs) => {
            await trx('meters')
              .where({ rental_no: no })
              .update({
                price_per_hour_cents: priceCents,
                charged_cents: charged,
                running_ms: startedMs,
                limit_ms: limitMs === null ? null : startedMs + limitMs,
              });
            const meter = await trx('meters').where({ rental_no: no }).first('due_ms');
            const dueMs = BigInt(meter!.due_ms - startedMs);
            const owed = (ms: bigint): bigint => (BigInt(priceCents) * ms) / BigInt(HOUR);
            if (limitMs !== null && dueMs === BigInt(limitMs)) assert.ok(owed(dueMs - 1n) <= BigInt(charged));
            else {
              assert.ok(owed(dueMs) > BigInt(charged));
              assert.ok(owed(dueMs - 1n) <= BigInt(charged));
              assert.ok(limitMs === null || dueMs < BigInt(limitMs));
            }
          },
        ),
        { numRuns: 100 },
      );
    } finally {
      await trx.rollback();
    }
  });
});
