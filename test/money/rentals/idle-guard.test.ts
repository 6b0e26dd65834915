import assert from 'node:assert/strict';
import { ensureProvider } from '../../../adapters/postgres/catalog/catalog.js';
import { newId } from '../../../adapters/ids.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { changeWords } from '../../../adapters/postgres/rentals/changes.js';
import { judgeGuards, keepAlive, writeIdleGuard } from '../../../adapters/postgres/rentals/idle-guards.js';
import { MINUTE } from '../../../domain/durations.js';
import { noUse } from '../../../domain/machines/telemetry.js';
import type { Refusal } from '../../../domain/refusal.js';
import { tick } from '../../../money/metering/tick.js';
import { getRental, insertRunning, insertWallet, onVerifiedDatabase } from '../../support/money/money.js';
import { untilSomeoneWaits } from '../../support/someone-waits.js';
import { VirtualClock } from '../../support/money/virtual-clock.js';

const told = { cpu: true, network: false, sessions: false };
const guard = { minutes: 15, ignores: ['sessions'] as const };

describe('a guarded rental', () => {
  let db: Database;
  let clock: VirtualClock;
  onVerifiedDatabase(async (opened) => {
    db = opened.db;
    clock = await VirtualClock.install(db);
    await ensureProvider(db, 'lab');
  });

  let machines = 0;
  async function rent(more: object = {}) {
    machines += 1;
    const podId = `guarded-${machines}`;
    const wallet = await insertWallet(db, 10_000);
    const id = await insertRunning(db, wallet, { priceCents: 600, ranMs: MINUTE });
    await db('rentals')
      .where({ id })
      .update({ pod_id: podId, ...more });
    const rental = await getRental(db, id);
    await db.transaction((trx) => writeIdleGuard(trx, rental.no, guard));
    return { rental, podId };
  }

  /** Lets minutes pass, each told as the watcher tells it. */
  async function pass(podId: string, minutes: number, busiestGpuPercent: number | null = 1): Promise<void> {
    for (let minute = 0; minute < minutes; minute += 1) {
      const atMs = await clock.nowMs();
      await clock.pass(MINUTE);
      const use = { ...noUse, busiestGpuPercent, cpuPercent: 3, podId };
      const times = { atMs, firstMs: atMs, lastMs: atMs + 50_000 };
      await judgeGuards(db, { providerCode: 'lab', told }, [{ ...use, ...times }], await clock.nowMs());
    }
  }

  const warningsOf = async (id: string) => {
    const events = await db('event_outbox').where({ entity_id: id, type: 'rental.warned' }).orderBy('no');
    return events.map(({ data }) => data);
  };

  it('is warned of, and ends as idle at the instant of the verdict, told and mailed once', async () => {
    const { rental, podId } = await rent();
    const startMs = await clock.nowMs();
    await pass(podId, 3);
    assert.deepEqual(await warningsOf(rental.id), []);
    await pass(podId, 11);
    const at = new Date(startMs + 15 * MINUTE).toISOString();
    assert.deepEqual(await warningsOf(rental.id), [{ warning: 'idle_stop_near', at }]);
    await tick(db, { shard: 0, shards: 1 });
    assert.equal((await getRental(db, rental.id)).status, 'running');
    await pass(podId, 1);
    await pass(podId, 2);
    await tick(db, { shard: 0, shards: 1 });
    const ended = await getRental(db, rental.id);
    assert.deepEqual(
      [ended.status, ended.stop_reason, ended.ended_at?.toISOString()],
      ['stopping', 'idle', at],
    );
    const notices = await db('user_notices')
      .where({ user_id: rental.user_id })
      .select('kind', 'cause', 'facts');
    assert.deepEqual(
      notices.map(({ kind, cause, facts }) => [kind, cause, facts['stopsAt']]),
      [['rental_idle_near', `idle-warned:${rental.id}:${at}`, at]],
    );
    await assert.rejects(keepAlive(db, rental, new Date(startMs + 60 * MINUTE)), { code: 'rental_ending' });
  });

  it('goes on after a minute of use, or one of which nothing is told', async () => {
    const { rental, podId } = await rent();
    await pass(podId, 14);
    await pass(podId, 1, 40);
    await pass(podId, 14);
    await pass(podId, 1, null);
    await pass(podId, 14);
    assert.equal((await warningsOf(rental.id)).length, 3);
    assert.equal(await db('stop_requests').where({ rental_no: rental.no }).first(), undefined);
  });

  it('is kept alive until then, is warned of anew, and no earlier wish shortens that', async () => {
    const { rental, podId } = await rent();
    const startMs = await clock.nowMs();
    await pass(podId, 12);
    await keepAlive(db, rental, new Date(startMs + 40 * MINUTE));
    await keepAlive(db, rental, new Date(startMs + 20 * MINUTE));
    await pass(podId, 27);
    assert.equal(await db('stop_requests').where({ rental_no: rental.no }).first(), undefined);
    assert.deepEqual(
      (await warningsOf(rental.id)).map(({ at }) => (Date.parse(String(at)) - startMs) / MINUTE),
      [15, 40],
    );
    await pass(podId, 1);
    assert.equal((await db('stop_requests').where({ rental_no: rental.no }).first())?.requested_by, 'idle');
    const kept = await db('event_outbox').where({ entity_id: rental.id, type: 'rental.kept_alive' });
    assert.deepEqual(
      kept.map(({ data }) => data['by']),
      ['renter', 'renter'],
    );
    assert.deepEqual((await getRental(db, rental.id)).auto_stop_at, rental.auto_stop_at);
  });

  it('ends by its limit where that was reached before', async () => {
    const startMs = await clock.nowMs();
    const limit = new Date(startMs + 15 * MINUTE - 1_000);
    const { rental, podId } = await rent({ auto_stop_at: limit, auto_stop_after_ms: 16 * MINUTE });
    await pass(podId, 15);
    await tick(db, { shard: 0, shards: 1 });
    const ended = await getRental(db, rental.id);
    assert.deepEqual([ended.stop_reason, ended.ended_at], ['auto_stop', limit]);
  });

  it('is not asked to end once it is settled, as it may be while its verdict waits', async () => {
    const { rental, podId } = await rent();
    await pass(podId, 14);
    const at = new Date(await clock.nowMs());
    let judging: Promise<void> | undefined;
    await db.transaction(async (trx) => {
      await trx('idle_guards').where({ rental_no: rental.no }).forUpdate().first('rental_no');
      judging = pass(podId, 2);
      await untilSomeoneWaits(db, 'the verdict');
      await trx('rentals')
        .where({ id: rental.id })
        .update({ status: 'stopped', stop_reason: 'pod_lost', hold_cents: 0, ended_at: at, settled_at: at });
    });
    await judging;
    assert.equal(await db('stop_requests').where({ rental_no: rental.no }).first(), undefined);
    const { status, stop_reason, hold_cents, ended_at, settled_at } = rental;
    await db('rentals')
      .where({ id: rental.id })
      .update({ status, stop_reason, hold_cents, ended_at, settled_at });
  });

  it('is kept alive, and its guard changed, by the clock of the database', async () => {
    const limit = new Date((await clock.nowMs()) + 60 * MINUTE);
    const { rental } = await rent({ auto_stop_at: limit, auto_stop_after_ms: 61 * MINUTE });
    await keepAlive(db, rental, limit);
    const change = { id: newId('chg'), rental, asked: { idleGuard: null }, answerBefore: limit };
    assert.equal(await changeWords(db, change, undefined), undefined);
  });

  it('begins anew with a new guard, and goes on without one', async () => {
    const { rental, podId } = await rent();
    await pass(podId, 14);
    await db.transaction((trx) => writeIdleGuard(trx, rental.no, { ...guard, minutes: 20 }));
    await pass(podId, 19);
    await db.transaction((trx) => writeIdleGuard(trx, rental.no, null));
    await pass(podId, 20);
    assert.equal(await db('stop_requests').where({ rental_no: rental.no }).first(), undefined);
    const refused = (error: Refusal) => error.code === 'no_idle_guard';
    await assert.rejects(keepAlive(db, rental, new Date((await clock.nowMs()) + MINUTE)), refused);
  });
});
