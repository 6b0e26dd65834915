import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { Database } from '../../adapters/postgres/database.js';
import { insertAttempt } from '../../adapters/postgres/machines/attempts.js';
import { getBalance } from '../../adapters/postgres/wallets/wallet-reads.js';
import { presentBalance } from '../../api/wallet/billing.js';
import { insertStopRequest } from '../../adapters/postgres/rentals/stop-requests.js';
import type { AllocationAttemptRow, RentalRow, WalletRow } from '../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../domain/ids.js';
import { isLow } from '../../domain/metering/runway.js';
import { moveHold, lockWalletOfRental, lockWalletOfUser } from '../../money/ledger/wallets.js';
import { tick } from '../../money/metering/tick.js';
import { recordAnswer } from '../../money/rentals/answered-machines.js';
import { beginBilling, giveUpRental, settleEnded } from '../../money/rentals/lifecycle.js';
import { endLost } from '../../money/rentals/lost.js';
import { adoptPod } from '../../money/rentals/pod-adoption.js';
import { insertRental, lockRental, type NewRental } from '../../money/rentals/rentals.js';
import {
  getRental,
  insertRunning,
  getWallet,
  insertWallet,
  onVerifiedDatabase,
  type NewRunning,
} from '../support/money/money.js';
import { assertToldOnce, type Telling } from '../support/money/told-once.js';
import { toldTypes } from '../support/story/told-events.js';
import { beginEarlier } from '../support/money/begin-earlier.js';

const whole = { shard: 0, shards: 1 };
const HOUR = 3_600_000;

describe('the events of a rental', () => {
  let db: Database;
  let wallet: WalletRow;
  onVerifiedDatabase(async (opened) => {
    db = opened.db;
    await db('providers').insert({ code: 'lab' });
  });
  beforeEach(async () => {
    // What an earlier test left running would be ended by this one's tick.
    for (const { id } of await db('rentals').where({ status: 'running' }).select('id')) await stop(id);
    wallet = await insertWallet(db, 10_000);
  });

  function newRental(columns: Partial<NewRental> = {}): NewRental {
    const id = newId('rent');
    return {
      id,
      wallet_id: wallet.id,
      user_id: wallet.user_id,
      name: 'a name that nobody is told',
      family: 'rtx-4090',
      model: 'RTX_4090',
      gpu_count: 1,
      region: 'Oslo, Norway',
      region_code: 'NO',
      interconnect: 'pcie',
      template_id: 'ubuntu-24-04',
      ssh_key_ids: [],
      listing_id: newId('lst'),
      provider_code: 'lab',
      tag: `test-${id}-1`,
      pod_id: `pod-${id}`,
      price_per_hour_cents: 50,
      max_spend_cents: null,
      auto_stop_after_ms: null,
      opened_seq: wallet.seq,
      ...columns,
    };
  }

  async function open(columns: Partial<NewRental> = {}): Promise<RentalRow> {
    const rental = newRental(columns);
    await insertHeld(rental);
    return getRental(db, rental.id);
  }

  async function insertHeld(rental: NewRental): Promise<void> {
    await db.transaction(async (trx) => {
      const locked = await lockWalletOfUser(trx, wallet.user_id);
      await moveHold(trx, locked, rental.price_per_hour_cents);
      await insertRental(trx, rental);
    });
  }

  const address = { host: '192.0.2.7', port: 22, username: 'ubuntu', hostKeyFingerprint: 'SHA256:abc' };

  function running(more: Partial<NewRunning> = {}): Promise<RentalId> {
    return insertRunning(db, wallet, { priceCents: 100, ranMs: HOUR, ...more });
  }

  async function stop(id: RentalId): Promise<void> {
    await insertStopRequest(db, (await getRental(db, id)).no, 'user');
    await tick(db, whole);
  }

  async function endedAt(id: RentalId): Promise<string> {
    return (await getRental(db, id)).ended_at!.toISOString();
  }

  it('tell its opening with its machine', async () => {
    const rental = newRental();
    const created = {
      familyId: 'rtx-4090',
      gpuCount: 1,
      region: 'Oslo, Norway',
      pricePerHourCents: 50,
      holdCents: 50,
    };
    await assertToldOnce(db, {
      userId: wallet.user_id,
      act: () => insertHeld(rental),
      tells: [
        ['rental.created', created],
        ['rental.machine_found', { providerCode: 'lab' }],
      ],
    });
  });

  it('tell its machine when it is found later', async () => {
    const rental = await open({ pod_id: null });
    const attempt = await attemptOf(rental);
    await assertToldOnce(db, {
      userId: wallet.user_id,
      act: () => adoptPod(db, rental, attempt, 'pod-late'),
      tells: [['rental.machine_found', { providerCode: 'lab' }]],
    });
  });

  it('do not tell a machine that was given up meanwhile', async () => {
    const rental = await open({ pod_id: null });
    const attempt = await attemptOf(rental);
    await db('allocation_attempts').where({ id: attempt.id }).update({ state: 'condemned' });
    assert.equal(await adoptPod(db, rental, attempt, 'pod-late'), false);
    assert.deepEqual(await toldTypes(db, rental.id), ['rental.created']);
  });

  async function attemptOf(rental: RentalRow): Promise<AllocationAttemptRow> {
    return insertAttempt(db, {
      rentalId: rental.id,
      deployment: 'test',
      providerCode: 'lab',
      listingId: rental.listing_id,
      offerId: 'offer',
      pricePerHourCents: 50,
      endBy: null,
      deadlineMs: 60_000,
    });
  }

  it('tell that its SSH daemon answers, and that it runs', async () => {
    const { id, tag } = await open({ auto_stop_after_ms: HOUR, max_spend_cents: 100 });
    await assertToldOnce(db, {
      userId: wallet.user_id,
      act: () => recordAnswer(db, { rentalId: id, tag }, { address, readyBy: 'ssh' }),
      tells: [['rental.ssh_answered', address]],
    });
    await assertToldOnce(db, {
      userId: wallet.user_id,
      act: () => beginBilling(db, id),
      tells: [['rental.running']],
    });
    const row = await getRental(db, id);
    const told = await db('event_outbox').where({ entity_id: id, type: 'rental.running' }).first();
    assert.deepEqual(told?.data, {
      runningAt: row.running_at!.toISOString(),
      autoStopAt: new Date(row.running_at!.getTime() + HOUR).toISOString(),
      spendLimitAt: new Date(row.running_at!.getTime() + 2 * HOUR).toISOString(),
    });
  });

  it('tell no answer to an attempt that was overtaken: its rental begins to run before it can write', async () => {
    const { id, tag } = await open();
    await recordAnswer(db, { rentalId: id, tag }, { address, readyBy: 'ssh' });
    const running = await db.transaction();
    await lockWalletOfRental(running, id);
    await lockRental(running, id);
    const late = recordAnswer(db, { rentalId: id, tag }, { address, readyBy: 'ssh' });
    await running('answered_machines').delete();
    await running('rentals')
      .where({ id })
      .update({ status: 'running', running_at: running.raw('clock_ms()') });
    await running('event_outbox').insert({
      user_id: wallet.user_id,
      type: 'rental.running',
      entity_id: id,
      data: {},
    });
    await running.commit();
    await late;
    assert.deepEqual(await toldTypes(db, id), [
      'rental.created',
      'rental.machine_found',
      'rental.ssh_answered',
      'rental.running',
    ]);
    assert.equal((await db('answered_machines')).length, 0);
  });

  it('tell a stop while it is provisioned, and its settling', async () => {
    const { id, no } = await open();
    await insertStopRequest(db, no, 'user');
    await assertToldOnce(db, {
      userId: wallet.user_id,
      act: () => giveUpRental(db, id, null),
      tells: [['rental.stopping'], ['rental.stopped']],
    });
    assert.equal(await auditOf(id), undefined, 'its user knows');
  });

  it('tell that it failed, and the credit of what was held', async () => {
    const { id } = await open();
    const failed = { code: 'not_provisioned', message: 'It did not boot.', refundedCents: 50 };
    const credit = { amountCents: 50, balanceCents: 10_000, ledgerSeq: 3, entryType: 'refund' };
    await assertToldOnce(db, {
      userId: wallet.user_id,
      act: () => giveUpRental(db, id, 'It did not boot.'),
      tells: [
        ['wallet.credited', credit],
        ['rental.failed', failed],
      ],
    });
    assert.deepEqual(await auditOf(id), { reason: 'not_provisioned', chargedCents: 0, refundedCents: 50 });
  });

  /** The details of the end in the audit trail; undefined where it is not written. */
  async function auditOf(id: RentalId): Promise<unknown> {
    const rows = await db('audit_events').where({ entity_id: id, kind: 'rental_ended' });
    assert.ok(rows.length <= 1 && rows.every((row) => row.client_address === null));
    return rows[0]?.details ?? undefined;
  }

  const ends: { by: string; more: Partial<NewRunning>; asks?: 'user' | 'operator' }[] = [
    { by: 'auto_stop', more: { autoStopAfterMs: HOUR - 5_000 } },
    { by: 'spend_limit', more: { maxSpendCents: 99 } },
    { by: 'user', more: {}, asks: 'user' },
    { by: 'operator', more: {}, asks: 'operator' },
  ];
  for (const { by, more, asks } of ends) {
    it(`tell its end by ${by} once, and then what it cost`, async () => {
      const id = await running(more);
      if (asks) await insertStopRequest(db, (await getRental(db, id)).no, asks);
      await assertToldOnce(db, {
        userId: wallet.user_id,
        act: () => tick(db, whole),
        tells: [['rental.stopping']],
      });
      const stoppedAt = await endedAt(id);
      const [stopping] = await db('event_outbox').where({ entity_id: id });
      assert.deepEqual(stopping?.data, { reason: by, stoppedAt });
      await assertToldOnce(db, {
        userId: wallet.user_id,
        act: () => settleEnded(db, id),
        tells: [['rental.stopped']],
      });
      const row = await getRental(db, id);
      const cents = { chargedCents: row.charged_cents, refundedCents: row.released_cents };
      const told = await db('event_outbox').where({ entity_id: id, type: 'rental.stopped' }).first();
      assert.deepEqual(told?.data, { reason: by, stoppedAt, ...cents });
      assert.deepEqual(await auditOf(id), by === 'user' ? undefined : { reason: by, ...cents });
    });
  }

  it('tell one end of a rental whose machine turns out to be lost before its stop', async () => {
    const id = await running({ ranMs: 10 * 60_000, priceCents: 3_600 });
    await insertStopRequest(db, (await getRental(db, id)).no, 'user');
    await tick(db, whole);
    const { running_at: runningAt } = await getRental(db, id);
    const lose = () =>
      db.transaction(async (trx) => {
        const locked = await lockWalletOfRental(trx, id);
        await endLost(trx, locked, await lockRental(trx, id), new Date(runningAt!.getTime() + 5 * 60_000));
      });
    await assertToldOnce(db, {
      userId: wallet.user_id,
      act: lose,
      tells: [['wallet.credited'], ['rental.stopped']],
    });
    assert.deepEqual(await toldTypes(db, id), ['rental.stopping', 'rental.stopped']);
  });

  it('tell once that the money is over, with all the rentals that ended by it', async () => {
    const poor = await insertWallet(db, 200);
    const ids = [
      await insertRunning(db, poor, { priceCents: 100, ranMs: HOUR }),
      await insertRunning(db, poor, { priceCents: 100, ranMs: HOUR }),
    ];
    await db('meters')
      .where({ wallet_id: poor.id })
      .update({ running_ms: db.raw('running_ms - 60000') });
    await assertToldOnce(db, {
      userId: poor.user_id,
      act: () => tick(db, whole),
      tells: [['rental.stopping'], ['rental.stopping'], ['wallet.exhausted', { rentalIds: ids }]],
    });
  });

  it('tell nothing of ticks by which nothing ends', async () => {
    await running({ priceCents: 360, ranMs: 5_000 });
    for (let ticks = 0; ticks < 2; ticks += 1) await tick(db, whole);
    const told = await db('event_outbox')
      .where({ user_id: wallet.user_id })
      .whereNot({ type: 'wallet.credited' });
    assert.deepEqual(told, []);
  });

  it('tell that the balance is low, once for each time that it becomes so', async () => {
    const poor = await insertWallet(db, 1_000);
    const id = await insertRunning(db, poor, { priceCents: 900, ranMs: 12 * 60_000, holdCents: 0 });
    const low = { balanceCents: 820, burnPerHourCents: 900, runwaySeconds: 3_280 };
    await assertToldOnce(db, {
      userId: poor.user_id,
      act: () => tick(db, whole),
      tells: [['wallet.low', low]],
    });
    await beginEarlier(db, [id], 60);
    await tick(db, whole);
    const lows = await db('event_outbox').where({ user_id: poor.user_id, type: 'wallet.low' });
    assert.equal(lows.length, 1);
  });

  for (const [ranMs, balanceCents] of [
    [400_000, 90],
    [440_000, 89],
  ] as const) {
    it(`tell of ${balanceCents} cents what the domain says of them`, async () => {
      const poor = await insertWallet(db, 100);
      await insertRunning(db, poor, { priceCents: 90, ranMs, holdCents: 0 });
      await tick(db, whole);
      const lows = await db('event_outbox').where({ user_id: poor.user_id, type: 'wallet.low' });
      assert.equal((await getWallet(db, poor.user_id)).available_cents, balanceCents);
      assert.equal(lows.length === 1, isLow(balanceCents, 90));
    });
  }

  it('tell how long the money lasts as the balance does: what waits for another machine is not counted', async () => {
    wallet = await insertWallet(db, 1_000);
    await running({ priceCents: 900, ranMs: 12 * 60_000, holdCents: 0 });
    await insertHeld(newRental({ price_per_hour_cents: 90 }));
    await tick(db, whole);
    const [low] = await db('event_outbox').where({ user_id: wallet.user_id, type: 'wallet.low' });
    const { runwaySeconds } = presentBalance(await getBalance(db, wallet.user_id));
    assert.deepEqual(low?.data, { balanceCents: 820, burnPerHourCents: 900, runwaySeconds });
    assert.equal(runwaySeconds, (730 * 3_600) / 900);
  });

  for (const { title, ranMs, tells, reason } of [
    {
      title: 'within a minute',
      ranMs: 30_000,
      tells: [['wallet.credited'], ['rental.failed']],
      reason: 'lost_at_start',
    },
    {
      title: 'later',
      ranMs: 10 * 60_000,
      tells: [['rental.stopping'], ['wallet.credited'], ['rental.stopped']],
      reason: 'pod_lost',
    },
  ] satisfies { title: string; ranMs: number; tells: Telling[]; reason: string }[]) {
    it(`tell that its machine was lost ${title}`, async () => {
      const id = await running({ priceCents: 3_600, ranMs });
      await tick(db, whole);
      const { running_at: runningAt } = await getRental(db, id);
      const aliveAt = new Date(runningAt!.getTime() + ranMs / 2);
      await assertToldOnce(db, {
        userId: wallet.user_id,
        act: () =>
          db.transaction(async (trx) => {
            const locked = await lockWalletOfRental(trx, id);
            await endLost(trx, locked, await lockRental(trx, id), aliveAt);
          }),
        tells,
      });
      assert.equal(((await auditOf(id)) as { reason: string }).reason, reason);
    });
  }
});
