import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { readClock } from '../../../adapters/postgres/clock.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { listAttempts, moveAttempt } from '../../../adapters/postgres/machines/attempts.js';
import type { ListingRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../domain/ids.js';
import { Refusal } from '../../../domain/refusal.js';
import type { RentalRequest } from '../../../domain/rentals/request.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { openRental, type OpenedRental } from '../../../money/rentals/open.js';
import { insertListing, insertProvider, insertRental } from '../../support/money/factories.js';
import { TestMarket } from '../../support/money/test-market.js';
import {
  getRental,
  getWallet,
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../../support/money/money.js';
import { until } from '../../support/until.js';

describe('the transaction that opens a rental', () => {
  let money: MoneyDatabase;
  let db: Database;
  let market: TestMarket;
  let wallet: WalletRow;
  let listing: ListingRow;
  let rentalId: RentalId;
  /** The instant after which no opening happens any more. */
  let answerBefore: Date;
  before(async () => {
    money = await openMoneyDatabase();
    db = money.db;
    await insertProvider(db);
    listing = await insertListing(db, { price_per_hour_cents: 50 });
  });
  beforeEach(async () => {
    market = new TestMarket(db);
    wallet = await insertWallet(db, 100);
    rentalId = newId('rent');
    answerBefore = inMs(30_000);
  });
  after(() => money.close());

  function inMs(ms: number): Date {
    return new Date(Date.now() + ms);
  }

  function open(more: Partial<RentalRequest> = {}): Promise<OpenedRental | Refusal> {
    const request = {
      userId: wallet.user_id,
      familyId: 'rtx-4090',
      gpuCount: 1,
      templateId: 'ubuntu-24-04',
      region: null,
      name: null,
      sshKeyIds: [],
      autoStopAfterMs: null,
      maxSpendCents: null,
      maxPricePerHourCents: null,
      ...more,
    };
    return openRental(
      db,
      { rentalId, request, answerBefore: answerBefore.toISOString() },
      market,
      rentalLimits.freeMachines,
    );
  }

  async function moneyNow(): Promise<{ available: number; reserved: number }> {
    const { available_cents, reserved_cents } = await getWallet(db, wallet.user_id);
    return { available: available_cents, reserved: reserved_cents };
  }

  async function isRefused(code: string): Promise<void> {
    const answer = await open();
    assert.ok(answer instanceof Refusal, 'a refusal is an answer, so that what was metered is committed');
    assert.equal(answer.code, code);
    assert.equal((await db('rentals').where({ id: rentalId })).length, 0, 'no rental');
  }

  it('keeps the idle guard that was asked for', async () => {
    await open({ idleGuard: { minutes: 45, ignores: ['sessions'] } });
    const { no } = await getRental(db, rentalId);
    const { minutes, ignores, idle_since } = (await db('idle_guards').where({ rental_no: no }).first())!;
    assert.deepEqual([minutes, ignores, idle_since], [45, ['sessions'], null]);
  });

  it('buys at the cheapest listing, holds one hour and leaves the rental', async () => {
    assert.deepEqual(await open(), { rentalId, pricePerHourCents: 50, providerCode: 'lab' });
    const rental = await getRental(db, rentalId);
    assert.deepEqual(
      [rental.status, rental.hold_cents, rental.pod_id],
      ['provisioning', 50, `pod-${rentalId}`],
    );
    assert.deepEqual(await moneyNow(), { available: 50, reserved: 50 });
    assert.deepEqual(
      (await listAttempts(db, rentalId)).map(({ state }) => state),
      ['adopted'],
    );
  });

  it('answers again for one that an earlier try has opened: it buys and holds once', async () => {
    const first = await open();
    answerBefore = inMs(-1);
    assert.deepEqual(await open(), first, 'also when its time is over');
    assert.equal(market.asked.length, 1);
    assert.deepEqual(await moneyNow(), { available: 50, reserved: 50 });
  });

  it('takes the machine that an earlier try bought before it died, and asks no upstream', async () => {
    market.bought = { listing, purchase: await market.attempt({ rentalId, listing }) };
    assert.deepEqual(await open(), { rentalId, pricePerHourCents: 50, providerCode: 'lab' });
    assert.equal(market.asked.length, 0);
    assert.equal((await getRental(db, rentalId)).tag, market.bought.purchase.attempt.tag);
  });

  it('opens without a pod when it is not known whether one was bought, and leaves the attempt open', async () => {
    market.sell = async (order) => {
      const { attempt } = await market.attempt(order);
      return { kind: 'unknown', attempt, listed: false };
    };
    await open();
    assert.equal((await getRental(db, rentalId)).pod_id, null);
    assert.equal((await listAttempts(db, rentalId))[0]?.state, 'open');
  });

  it('asks no upstream when the wallet can’t pay for an hour; metered charges stay', async () => {
    const running = await insertRunning(db, wallet, { priceCents: 60, ranMs: 1_800_000, holdCents: 0 });
    await insertRunning(db, wallet, { priceCents: 30, ranMs: 0, holdCents: 30 });
    await isRefused('insufficient_balance');
    assert.equal(market.asked.length, 0);
    assert.equal((await getRental(db, running)).charged_cents, 30);
    assert.deepEqual(await moneyNow(), { available: 40, reserved: 30 });
  });

  it('is refused without a hold after machines of an hour that nobody was billed for', async () => {
    const at = new Date(Date.now() - 60_000);
    for (let count = 0; count < 2; count += 1) {
      await insertRental(db, wallet.user_id, {
        ...{ price_per_hour_cents: 3_992, gpu_count: 8, pod_id: `free-${count}` },
        ...{ status: 'stopped', stop_reason: 'user', started_at: at, ended_at: at },
        ...{ settled_at: at, terminated_at: at, closed_at: at },
      });
    }
    await isRefused('rate_limited');
    assert.equal(market.asked.length, 0);
    assert.deepEqual(await moneyNow(), { available: 100, reserved: 0 });
  });

  it('is refused without a hold when the upstreams sell nothing', async () => {
    market.sell = () => Promise.resolve({ kind: 'none' });
    await isRefused('model_unavailable');
    assert.deepEqual(await moneyNow(), { available: 100, reserved: 0 });
  });

  it('is refused without a hold, to be tried again, when no time is left to ask an upstream', async () => {
    answerBefore = inMs(rentalLimits.openFinishMs + rentalLimits.openTryMinMs);
    await isRefused('temporarily_unavailable');
    assert.equal(market.asked.length, 0);
    assert.deepEqual(await moneyNow(), { available: 100, reserved: 0 });
  });

  it('is refused without a hold when the time ended while an upstream was asked', async () => {
    answerBefore = inMs(3_000);
    market.sell = async (order) => {
      const purchase = await market.attempt(order);
      await until('the time is over', async () => (await readClock(db)) > answerBefore);
      return purchase;
    };
    await isRefused('temporarily_unavailable');
    assert.deepEqual(await moneyNow(), { available: 100, reserved: 0 });
    assert.equal(
      (await listAttempts(db, rentalId))[0]?.state,
      'open',
      'whoever hears the refusal gives it back',
    );
  });

  it('is refused without a hold when the pod was given up before it was adopted', async () => {
    market.sell = async (order) => {
      const purchase = await market.attempt(order);
      await moveAttempt(db, purchase.attempt.id, 'open', 'condemned');
      return purchase;
    };
    await isRefused('temporarily_unavailable');
    assert.deepEqual(await moneyNow(), { available: 100, reserved: 0 });
  });
});
