import { claimUntoldNotices } from '../../adapters/postgres/operators/operator-notices.js';
import assert from 'node:assert/strict';
import type { ActivityDeps } from '../../activities/deps.js';
import { createRentalActivities } from '../../activities/rentals/rental.js';
import { ensureProvider } from '../../adapters/postgres/catalog/catalog.js';
import type { Database } from '../../adapters/postgres/database.js';
import { tick } from '../../money/metering/tick.js';
import {
  recordLostPods,
  recordPodGone,
  recordPodList,
  recordSeenAlive,
} from '../../adapters/postgres/machines/pods.js';
import { listDueIntents, markDelivered } from '../../adapters/postgres/upkeep/intents.js';
import { endAtPast } from '../../adapters/postgres/restore/restore.js';
import type { RentalRow, WalletRow } from '../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../domain/ids.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import {
  getRental,
  getWallet,
  insertRunning,
  insertWallet,
  onVerifiedDatabase,
  type NewRunning,
} from '../support/money/money.js';
import { beginEarlier } from '../support/money/begin-earlier.js';

const whole = { shard: 0, shards: 1 };
const SECOND = 1_000;
/** A cent each second. */
const priceCents = 3_600;

describe('the end of a machine that was lost (decision 77)', () => {
  let db: Database;
  let steps: ReturnType<typeof createRentalActivities>;
  onVerifiedDatabase(async (opened) => {
    db = opened.db;
    await ensureProvider(db, 'lab');
    steps = createRentalActivities({ db } as ActivityDeps);
  });

  /** The engine ticks, and the rental's own round notices the stop and the loss, in either order. */
  const orders = [
    { first: 'the tick engine notices the end first', ticks: true },
    { first: "the rental's own round comes first", ticks: false },
  ];

  for (const { first, ticks } of orders) {
    it(`is when it was last seen alive, though a stop was pressed later; ${first}`, async () => {
      const { id, wallet } = await rent({ ranMs: 900 * SECOND });
      await lose(id, 300 * SECOND);
      await askToStop(id, 600 * SECOND);
      if (ticks) await tick(db, whole);
      const lost = await finish(id);
      assert.deepEqual(endOf(lost), { reason: 'pod_lost', ms: 300 * SECOND, cents: 300 });
      assert.equal((await getWallet(db, wallet.user_id)).available_cents, 9_700);
      assert.match(lost.error ?? '', /last saw it running/);
    });

    it(`is the stop when that came before; ${first}`, async () => {
      const { id } = await rent({ ranMs: 900 * SECOND });
      await lose(id, 600 * SECOND);
      await askToStop(id, 300 * SECOND);
      if (ticks) await tick(db, whole);
      assert.deepEqual(endOf(await finish(id)), { reason: 'user', ms: 300 * SECOND, cents: 300 });
    });

    it(`is the auto-stop when that came before; ${first}`, async () => {
      const { id } = await rent({ ranMs: 1_300 * SECOND, autoStopAfterMs: 600 * SECOND });
      await lose(id, 1_190 * SECOND);
      if (ticks) await tick(db, whole);
      assert.deepEqual(endOf(await finish(id)), { reason: 'auto_stop', ms: 600 * SECOND, cents: 600 });
    });

    it(`is the loss when an auto-stop came later; ${first}`, async () => {
      const { id } = await rent({ ranMs: 1_300 * SECOND, autoStopAfterMs: 600 * SECOND });
      await lose(id, 500 * SECOND);
      if (ticks) await tick(db, whole);
      assert.deepEqual(endOf(await finish(id)), { reason: 'pod_lost', ms: 500 * SECOND, cents: 500 });
    });

    it(`gives all back within the first minute, though a stop was pressed later; ${first}`, async () => {
      const { id, wallet } = await rent({ ranMs: 900 * SECOND });
      await lose(id, 50 * SECOND);
      await askToStop(id, 600 * SECOND);
      if (ticks) await tick(db, whole);
      const failed = await finish(id);
      assert.deepEqual([failed.status, failed.charged_cents - failed.refunded_cents], ['failed', 0]);
      assert.equal((await getWallet(db, wallet.user_id)).available_cents, 10_000);
    });
  }

  it('is the end of the money when that came before, and the machine had waited for a top-up', async () => {
    const wallet = await insertWallet(db, 100);
    const id = await insertRunning(db, wallet, { priceCents: 36_000, holdCents: 100, ranMs: 12_000 });
    await insertPod(id);
    await db('intents').insert({ kind: 'auto_topup', wallet_id: wallet.id });
    await tick(db, whole);
    assert.equal((await getRental(db, id)).status, 'running', 'it waits');
    // The machine lives for a minute, with money for it: otherwise all of the first minute is free.
    await beginEarlier(db, [id], 90);
    await lose(id, 70 * SECOND);
    const lost = await finish(id);
    assert.deepEqual(endOf(lost), { reason: 'balance_exhausted', ms: 10 * SECOND, cents: 100 });
    assert.equal(lost.overage_cents, 0);
  });

  it('stays the stop by which it was settled, whatever lists show afterwards', async () => {
    const { id } = await rent({ ranMs: 900 * SECOND });
    await askToStop(id, 600 * SECOND);
    await tick(db, whole);
    const settled = await finish(id);
    await lose(id, 300 * SECOND);
    assert.deepEqual(endOf(await finish(id)), { reason: 'user', ms: 600 * SECOND, cents: 600 });
    assert.deepEqual((await getRental(db, id)).settled_at, settled.settled_at);
  });

  it('is the stop of a machine that this service itself then told to end', async () => {
    const { id } = await rent({ ranMs: 900 * SECOND });
    await list(id, 'active', 590 * SECOND);
    await askToStop(id, 600 * SECOND);
    await recordSeenAlive(db, 'lab', `pod-${id}`);
    await list(id, 'ending', 610 * SECOND);
    await tick(db, whole);
    assert.deepEqual(endOf(await finish(id)), { reason: 'user', ms: 600 * SECOND, cents: 600 });
  });

  it('is the last list that showed it when an operator says that it is gone', async () => {
    const { id } = await rent({ ranMs: 900 * SECOND });
    await list(id, 'active', 500 * SECOND);
    await recordPodGone(db, 'lab', `test-${id}-1`);
    await askToStop(id, 600 * SECOND);
    assert.deepEqual(endOf(await finish(id)), { reason: 'pod_lost', ms: 500 * SECOND, cents: 500 });
  });

  it('is told at once for one that was lost before, and came back until its workflow looked', async () => {
    const { id } = await rent({ ranMs: 900 * SECOND });
    const toldOf = async (rentalId: RentalId) => {
      await recordLostPods(db, 'lab');
      const due = (await listDueIntents(db, 500)).filter((intent) => intent.rentalId === rentalId);
      await markDelivered(
        db,
        due.map((intent) => intent.id),
      );
      return due.map(({ kind }) => kind);
    };
    await lose(id, 300 * SECOND);
    assert.deepEqual(await toldOf(id), ['pod_lost']);
    assert.deepEqual(await toldOf(id), [], 'its workflow has yet to look');
    await list(id, 'active', 320 * SECOND);
    await steps.meterRental(id, 3_600 * SECOND);
    assert.equal((await getRental(db, id)).status, 'running');
    await list(id, 'active', 600 * SECOND);
    await list(id, 'lost', 610 * SECOND);
    assert.deepEqual(await toldOf(id), ['pod_lost']);
    assert.deepEqual(endOf(await finish(id)), { reason: 'pod_lost', ms: 600 * SECOND, cents: 600 });
  });

  it('is the end of its run for one that ended after the backup of a restored database', async () => {
    const { id } = await rent({ ranMs: 900 * SECOND });
    await list(id, 'active', 300 * SECOND);
    const { running_at: runningAt } = await getRental(db, id);
    const ended = new Date((runningAt?.getTime() ?? 0) + 600 * SECOND);
    await endAtPast(db, { rentalId: id, endedAt: ended.toISOString() }, 'its run had ended');
    await recordPodList(db, 'lab', { pods: [], askedAt: new Date() });
    await recordPodList(db, 'lab', { pods: [], askedAt: new Date() });
    await tick(db, whole);
    assert.deepEqual(endOf(await finish(id)), { reason: 'operator', ms: 600 * SECOND, cents: 600 });
  });

  it('refunds in full only so often a day, and then charges until it was last seen alive', async () => {
    const wallet = await insertWallet(db, 50_000);
    const nets: number[] = [];
    for (let n = 0; n <= rentalLimits.fullRefundsPerDay; n += 1) {
      const id = await insertRunning(db, wallet, { priceCents, ranMs: 90 * SECOND, holdCents: 60 });
      await insertPod(id);
      await lose(id, 40 * SECOND);
      const { charged_cents: charged, refunded_cents: refunded } = await finish(id);
      nets.push(charged - refunded);
    }
    assert.deepEqual(nets, [...Array.from({ length: rentalLimits.fullRefundsPerDay }, () => 0), 40]);
    const told = await claimUntoldNotices(db, 'ops@example.com');
    assert.equal(told.length, 1, 'an operator is told of the one beyond the limit (decision 27)');
    assert.match(told[0]?.body ?? '', new RegExp(`${wallet.user_id} was lost`));
    const mails = await db('mail_outbox').where({ recipient: 'ops@example.com' });
    assert.deepEqual(
      mails.map(({ subject }) => subject),
      [told[0]?.subject],
    );
    assert.deepEqual(await claimUntoldNotices(db, 'ops@example.com'), [], 'once');
  });

  async function rent(rental: Omit<NewRunning, 'priceCents'>): Promise<{ id: RentalId; wallet: WalletRow }> {
    const wallet = await insertWallet(db, 10_000);
    const id = await insertRunning(db, wallet, { priceCents, ...rental });
    await insertPod(id);
    return { id, wallet };
  }

  async function insertPod(id: RentalId): Promise<void> {
    await db('pods').insert({
      ...{ provider_code: 'lab', pod_id: `pod-${id}`, tag: `test-${id}-1`, status: 'active' },
      ...{ upstream_status: 'active', first_seen_at: db.raw('clock_ms()') },
    });
  }

  /** Makes the upstream's lists show the machine alive until this long after its start, and lost afterwards. */
  async function lose(id: RentalId, aliveMs: number): Promise<void> {
    await list(id, 'active', aliveMs);
    await list(id, 'lost', aliveMs + 10 * SECOND);
  }

  /** Reads a list with the machine in this state, this long after its start. */
  async function list(id: RentalId, status: 'active' | 'lost' | 'ending', atMs: number): Promise<void> {
    await recordPodList(db, 'lab', {
      pods: [
        {
          ...{ podId: `pod-${id}`, tag: `test-${id}-1`, status, upstreamStatus: status },
          ...{ host: null, port: null, username: null, pricePerHourCents: priceCents },
        },
      ],
      askedAt: new Date(),
    });
    await db.raw(
      `update providers set pods_listed_at = running_at + :atMs * interval '1 millisecond'
         from rentals where code = 'lab' and id = :id`,
      { id, atMs },
    );
  }

  async function askToStop(id: RentalId, atMs: number): Promise<void> {
    await db.raw(
      `insert into stop_requests (rental_no, requested_by, requested_at)
       select no, 'user', running_at + :atMs * interval '1 millisecond' from rentals where id = :id`,
      { id, atMs },
    );
  }

  /** Does the rest of the rental's workflow. */
  async function finish(id: RentalId): Promise<RentalRow> {
    await steps.meterRental(id, 3_600 * SECOND);
    await steps.settleRental(id);
    return getRental(db, id);
  }
});

function endOf(rental: RentalRow) {
  assert.notEqual(rental.settled_at, null, 'it is settled');
  return {
    reason: rental.stop_reason,
    ms: (rental.ended_at?.getTime() ?? 0) - (rental.running_at?.getTime() ?? 0),
    cents: rental.charged_cents - rental.refunded_cents + rental.overage_cents + rental.written_off_cents,
  };
}
