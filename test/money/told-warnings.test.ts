import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { Database } from '../../adapters/postgres/database.js';
import { recordProbes } from '../../adapters/postgres/machines/pods-watch.js';
import { readClock } from '../../adapters/postgres/clock.js';
import { warnOfNearEnds } from '../../adapters/postgres/rentals/near-ends.js';
import { insertStopRequest } from '../../adapters/postgres/rentals/stop-requests.js';
import type { WalletRow } from '../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../domain/ids.js';
import { isEndNear } from '../../domain/rentals/near-ends.js';
import { lockWalletOfRental } from '../../money/ledger/wallets.js';
import {
  getRental,
  insertRunning,
  insertWallet,
  onVerifiedDatabase,
  type NewRunning,
} from '../support/money/money.js';
import { assertToldOnce } from '../support/money/told-once.js';
import { toldTypes } from '../support/story/told-events.js';

const HOUR = 3_600_000;

describe('the warnings of a rental', () => {
  let db: Database;
  let wallet: WalletRow;
  onVerifiedDatabase(async (opened) => {
    db = opened.db;
    await db('providers').insert({ code: 'lab' });
  });
  beforeEach(async () => {
    wallet = await insertWallet(db, 10_000);
  });
  afterEach(async () => {
    // What one test leaves running would be warned of in the next.
    await db('rentals').where({ status: 'running' }).update({ auto_stop_at: null, spend_limit_at: null });
    await db('allocation_attempts').update({ end_by: null });
  });

  function running(more: Partial<NewRunning> = {}): Promise<RentalId> {
    return insertRunning(db, wallet, { priceCents: 100, ranMs: HOUR, ...more });
  }

  it('tell once of a machine that is silent, and of one that answers with another key', async () => {
    const id = await running();
    const podId = `pod-${id}`;
    await db('pods').insert({
      ...{ provider_code: 'lab', pod_id: podId, tag: 'tag', status: 'active', upstream_status: 'up' },
      first_seen_at: new Date(),
      silent_probes: 2,
    });
    const probe = (answered: boolean, keyChanged: boolean) =>
      recordProbes(db, 'lab', [{ podId, answered, keyChanged }]);
    const silent = { warning: 'ssh_unreachable', at: null };
    const other = { warning: 'host_key_changed', at: null };
    await assertToldOnce(db, {
      userId: wallet.user_id,
      act: () => probe(false, false),
      tells: [['rental.warned', silent]],
    });
    await assertToldOnce(db, {
      userId: wallet.user_id,
      act: () => probe(true, true),
      tells: [['rental.warned', other]],
    });
    for (const [answered, changed] of [
      [true, false],
      [false, false],
      [false, false],
      [true, true],
    ] as const) {
      await probe(answered, changed);
    }
    const told = await db('event_outbox').where({ entity_id: id }).orderBy('no').pluck<object[]>('data');
    assert.deepEqual(
      told,
      [silent, other, other],
      'anew when it begins anew, and not before the third silence',
    );
  });

  it('tell once of each end that is near, and anew when it is moved', async () => {
    const id = await running({ autoStopAfterMs: HOUR + 5 * 60_000, maxSpendCents: 115 });
    const far = await insertRunning(db, wallet, { priceCents: 10, ranMs: HOUR, autoStopAfterMs: 2 * HOUR });
    const short = await insertRunning(db, wallet, { priceCents: 10, ranMs: 0, autoStopAfterMs: 60_000 });
    const { auto_stop_at: autoStopAt, spend_limit_at: spendLimitAt } = await getRental(db, id);
    await assertToldOnce(db, {
      userId: wallet.user_id,
      act: () => warnOfNearEnds(db),
      tells: [
        ['rental.warned', { warning: 'auto_stop_near', at: autoStopAt!.toISOString() }],
        ['rental.warned', { warning: 'spend_limit_near', at: spendLimitAt!.toISOString() }],
      ],
    });
    assert.deepEqual([await toldTypes(db, far), await toldTypes(db, short)], [[], []]);
    await db('rentals')
      .where({ id })
      .update({ auto_stop_at: db.raw(`auto_stop_at + interval '1 minute'`) });
    assert.deepEqual([await warnOfNearEnds(db), await warnOfNearEnds(db)], [1, 0]);
  });

  it('tell of the ends that the domain calls near', async () => {
    const MINUTE = 60_000;
    for (const ranMs of [2 * MINUTE, 20 * MINUTE])
      for (const leftMs of [-MINUTE, MINUTE, 14.5 * MINUTE, 15.5 * MINUTE])
        await insertRunning(db, wallet, { priceCents: 10, ranMs, autoStopAfterMs: ranMs + leftMs });
    const rows = await db('rentals').where({ status: 'running' }).whereNotNull('auto_stop_at').orderBy('no');
    const now = await readClock(db);
    const near = rows.filter((row) => isEndNear(row.auto_stop_at, row.running_at!, now));
    await warnOfNearEnds(db);
    const warned = await db('rental_warnings').orderBy('rental_no').pluck('rental_no');
    assert.deepEqual(
      warned.filter((no) => rows.some((row) => row.no === no)),
      near.map(({ no }) => no),
    );
    assert.ok(near.length > 0 && near.length < rows.length);
  });

  it('tell the date that an upstream has for a machine, when it could not be renewed', async () => {
    const id = await running();
    const { tag } = await getRental(db, id);
    const rows = await db('allocation_attempts')
      .insert({
        ...{
          rental_id: id,
          attempt: 1,
          provider_code: 'lab',
          listing_id: newId('lst'),
          offer_id: 'offer',
          tag,
        },
        ...{
          price_per_hour_cents: 100,
          state: 'adopted',
          end_by: db.raw(`clock_ms() + interval '10 minutes'`) as never,
        },
      })
      .returning('end_by');
    await assertToldOnce(db, {
      userId: wallet.user_id,
      act: () => warnOfNearEnds(db),
      tells: [['rental.warned', { warning: 'upstream_end_near', at: rows[0]!.end_by!.toISOString() }]],
    });
  });

  it('tell of all ends in one round, those first that are the soonest', async () => {
    const later = await running({ autoStopAfterMs: HOUR + 9 * 60_000 });
    const sooner = await running({ autoStopAfterMs: HOUR + 5 * 60_000 });
    const told: number[] = [];
    assert.equal(await warnOfNearEnds(db, { atOnce: 1, tell: ({ warned }) => told.push(warned) }), 2);
    assert.deepEqual(told, [1, 2, 2], 'a round goes on while it finds as many as it takes');
    const warned = await db('event_outbox')
      .whereIn('entity_id', [later, sooner])
      .where({ type: 'rental.warned' })
      .orderBy('no')
      .pluck('entity_id');
    assert.deepEqual(warned, [sooner, later]);
  });

  it('tell no end of a rental that is being ended at this moment', async () => {
    const id = await running({ autoStopAfterMs: HOUR + 5 * 60_000 });
    const ending = await db.transaction();
    await lockWalletOfRental(ending, id);
    await ending('rentals').where({ id }).forNoKeyUpdate().first('no');
    assert.equal(await warnOfNearEnds(db), 0);
    await ending.rollback();
    await insertStopRequest(db, (await getRental(db, id)).no, 'user');
    assert.equal(await warnOfNearEnds(db), 0);
  });
});
