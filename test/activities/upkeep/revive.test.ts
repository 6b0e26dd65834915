import assert from 'node:assert/strict';
import type { revive as reviveOf } from '../../../activities/upkeep/revive.js';
import { newId } from '../../../adapters/ids.js';
import { insertClosing } from '../../../adapters/postgres/accounts/closings.js';
import type { TopupRow } from '../../../adapters/postgres/rows/tables.js';
import { shareOf } from '../../../activities/upkeep/failing-runs.js';
import { operationLimits } from '../../../domain/operations/limits.js';
import { autoTopupWorkflowId } from '../../../domain/payments/processor-routes.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedTemporal } from '../../support/activities/scripted-temporal.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertRental, insertStoppedRental, insertTopup, insertUser } from '../../support/money/factories.js';
import { ageLoops } from '../../support/story/ageing.js';

const longAgo = new Date(Date.now() - 60_000);
/** What must always run, with one shard and one upstream. */
const longLived = [
  'meter:0',
  'provider-watch:lab',
  'upkeep:revive',
  'upkeep:redeliver',
  'upkeep:sweep',
  'upkeep:housekeeping',
  'upkeep:reliability',
  'upkeep:sealing',
  'mailer',
  'sequencer',
  'webhook-waker',
];
/** What a test leaves would wait in the next one. */
const rowsOfTests = [
  'account_closings',
  'stuck_items',
  'look_signals',
  'intents',
  'refunds_and_disputes',
  'invoices',
  'saved_cards',
  'topups',
  'rentals',
];

describe('revive', () => {
  const temporal = new ScriptedTemporal();
  let lone: LoneActivities;
  before(async () => {
    const providers = new Map([['lab', new ScriptedUpstream().port]]);
    lone = await startActivities({ temporal: temporal.port, providers });
  });
  beforeEach(async () => {
    temporal.reset();
    for (const table of rowsOfTests) await lone.db(table).delete();
  });
  after(() => lone.close());

  const revive = () => lone.round('revive') as ReturnType<typeof reviveOf>;
  /** What was signalled, as type and id. */
  const signalled = (): string[] =>
    temporal.asked.filter(([call]) => call === 'signalWithStart').map(([, type, id]) => `${type} ${id}`);
  const stuck = () => lone.db('stuck_items').select('duty', 'item', 'attempts').orderBy('item');

  /** A top-up of a user of its own that is older than the moment in which its workflow begins. */
  async function topUp(columns: Partial<TopupRow> = {}): Promise<TopupRow> {
    const user = await insertUser(lone.db);
    return insertTopup(lone.db, user.id, { created_at: longAgo, ...columns });
  }

  it('starts what must always run, and nothing else where no row waits', async () => {
    assert.deepEqual(await revive(), { rentals: 0, payments: 0, started: longLived });
    assert.deepEqual(temporal.ids, longLived);
    assert.ok(temporal.asked.every(([call]) => call === 'start'));
  });

  it('starts no duties where the service is told to do without', async () => {
    const without = await startActivities({ temporal: temporal.port, settings: { withoutUpkeep: true } });
    assert.deepEqual(await without.round('revive'), {
      ...{ rentals: 0, payments: 0 },
      started: ['meter:0', 'mailer', 'sequencer', 'webhook-waker'],
    });
    await without.close();
  });

  const began = { 'a moment ago': longAgo, 'by a clock that ran ahead': new Date(Date.now() + 86_400_000) };
  for (const [when, at] of Object.entries(began)) {
    it(`lets the workflow of each unfinished row look that began ${when}`, async () => {
      const { db } = lone;
      const user = await insertUser(db);
      const rental = await insertRental(db, user.id, { started_at: at });
      const topup = await topUp({ created_at: at });
      const auto = await topUp({
        created_at: at,
        status: 'processing',
        source: 'auto_topup',
        pm_id: 'pm_1',
        charge_sent_at: at,
        session_id: null,
        checkout_url: null,
        session_expires_at: null,
      });
      await db('saved_cards').insert({
        pm_id: 'pm_removed',
        user_id: user.id,
        brand: 'visa',
        last4: '4242',
        exp_month: 12,
        exp_year: 2099,
        set_up_at: at,
        removed_at: at,
        removed_why: 'user',
      });
      const wallet = await db('wallets').where({ user_id: user.id }).first();
      const invoiceId = newId('inv');
      await db('invoices').insert({
        id: invoiceId,
        user_id: user.id,
        wallet_id: wallet!.id,
        status: 'draft',
        reason: 'manual',
        amount_cents: 500,
        cause: 'test',
        created_at: at,
      });
      for (const kind of ['refund', 'dispute'] as const) {
        await db('refunds_and_disputes').insert({
          id: `${kind}_1`,
          kind,
          payment_id: 'pi_1',
          user_id: user.id,
          wallet_id: wallet!.id,
          amount_cents: 100,
          status: 'pending',
          created_at: at,
        });
      }
      await insertClosing(db, user.id);
      await db('account_closings').update({ requested_at: at });
      const { rentals, payments } = await revive();
      assert.deepEqual([rentals, payments], [1, 6]);
      const expected = [
        `closing closing:${user.id}`,
        `rental ${rental.id}`,
        `topup ${topup.id}`,
        `autoTopup ${autoTopupWorkflowId(auto.user_id)}`,
        `invoice ${invoiceId}`,
        'card pm_removed',
        'refund refund_1',
        'dispute dispute_1',
      ];
      assert.deepEqual(signalled().toSorted(), expected.toSorted());
    });
  }

  it('leaves alone what is final, what is young and what runs', async () => {
    const { db } = lone;
    const user = await insertUser(db);
    await insertStoppedRental(db, user.id, { closed_at: new Date() });
    await insertRental(db, user.id);
    await topUp({ status: 'expired', closed_at: longAgo });
    await topUp({ created_at: new Date() });
    const running = await topUp();
    temporal.running.add(running.id);
    const { rentals, payments } = await revive();
    assert.deepEqual([rentals, payments], [0, 0]);
    assert.deepEqual(signalled(), []);
  });

  it('finds what it has started running when it runs twice', async () => {
    await topUp();
    assert.equal((await revive()).payments, 1);
    assert.equal((await revive()).payments, 0);
    assert.equal(signalled().length, 1);
  });

  it('tells one that has no run although it was told a moment ago: that run was lost', async () => {
    const { id } = await topUp();
    await revive();
    temporal.running.delete(id);
    assert.equal((await revive()).payments, 1);
    assert.deepEqual(signalled(), [`topup ${id}`, `topup ${id}`]);
    assert.deepEqual(await stuck(), [], 'a lost run is no look that failed');
  });

  it('starts and tells the others when one fails, which is counted by what it is', async () => {
    const [bad, good] = [await topUp(), await topUp()];
    temporal.refusing.add(bad.id).add('meter:0');
    const { payments, started } = await revive();
    assert.equal(payments, 2);
    assert.deepEqual(started, longLived.slice(1));
    assert.deepEqual(signalled().toSorted(), [`topup ${bad.id}`, `topup ${good.id}`].toSorted());
    assert.deepEqual(await stuck(), [
      { duty: 'long_lived', item: 'meter:0', attempts: 1 },
      { duty: 'workflow', item: bad.id, attempts: 1 },
    ]);

    temporal.refusing.clear();
    await ageLoops(lone.db, 20_000);
    assert.deepEqual((await revive()).started, longLived);
    assert.deepEqual(await stuck(), [{ duty: 'workflow', item: bad.id, attempts: 1 }], 'its look clears it');
  });

  it('counts nothing against anybody while Temporal is away, and begins with the first once it is back', async () => {
    const { id } = await topUp();
    temporal.isAway = true;
    await assert.rejects(revive(), /nobody answers/);
    assert.deepEqual(await stuck(), []);
    temporal.isAway = false;
    assert.deepEqual((await revive()).started, longLived);
    assert.deepEqual(signalled(), [`topup ${id}`]);
  });

  it('delivers what transactions left to do, once while it was not done', async () => {
    const user = await insertUser(lone.db);
    const wallet = await lone.db('wallets').where({ user_id: user.id }).first();
    await lone.db('intents').insert({ kind: 'auto_topup', wallet_id: wallet!.id });
    const heard: unknown[] = [];
    await lone.round('revive', (detail) => heard.push((detail as { item?: string }).item));
    await revive();
    const id = autoTopupWorkflowId(user.id);
    assert.deepEqual(signalled(), [`autoTopup ${id}`]);
    // Each may take as long as Temporal may: the round tells that it gets on.
    assert.deepEqual([heard.includes(id), heard.includes('mailer')], [true, true]);
    const intent = await lone.db('intents').first();
    assert.ok(intent?.delivered_at);
    assert.equal(intent.acknowledged_at, null, 'who acts on it acknowledges it');
  });

  describe('runs whose task fails again and again', () => {
    const { failingTaskTries, runsAskedAtOnce, reviveEveryMs } = operationLimits;
    const aside = () =>
      lone
        .db('stuck_items')
        .whereNotNull('set_aside_at')
        .orderBy('item')
        .select('duty', 'item', 'last_error');

    it('are set aside at once, and leave the list when they go on', async () => {
      const failing = newId('rent');
      for (const id of [failing, newId('rent')]) temporal.running.add(id);
      temporal.attempts.set(failing, failingTaskTries).set('meter:0', failingTaskTries + 1);
      await revive();
      assert.deepEqual(
        (await aside()).map(({ duty, item }) => [duty, item]),
        [['run', 'meter:0']],
      );
      temporal.attempts.set(failing, failingTaskTries + 3);
      await revive();
      const [, rental] = await aside();
      assert.equal(rental?.item, failing);
      assert.match(rental.last_error, /failed or timed out 7 times in a row/);
      temporal.attempts.clear();
      await revive();
      assert.deepEqual(await aside(), []);
    });

    it('are asked about at once when they have a signal and did not look', async () => {
      const silent = newId('rent');
      await lone.db('look_signals').insert({
        workflow_id: silent,
        workflow_type: 'rental',
        wanted_at: longAgo,
        told_at: new Date(Date.now() - 2 * operationLimits.lookUnhandledMs),
        counted_on: longAgo,
        signals: 1,
      });
      await revive();
      assert.ok(temporal.described.includes(silent));
    });

    it('are found among many, a share in each round', () => {
      const ids = Array.from({ length: 2 * runsAskedAtOnce + 1 }, (_, at) => String(at).padStart(5, '0'));
      const rounds = [0, 1, 2].map((round) => shareOf(ids.toReversed(), round * reviveEveryMs));
      assert.deepEqual(
        rounds.map(({ length }) => length),
        [runsAskedAtOnce, runsAskedAtOnce, 1],
      );
      assert.deepEqual(rounds.flat(), ids);
      assert.deepEqual(shareOf([], 0), []);
    });
  });

  /** Last, as nothing removes an order: a suite's own tests run before those of suites within it. */
  describe('orders of many', () => {
    it('go on that were begun and have no run', async () => {
      const operationId = newId('op');
      const reason = 'the upstream was away';
      await lone.db('operator_actions').insert({
        id: operationId,
        kind: 'refund_rentals',
        operator: 'ann',
        reason,
        request: {},
        result: {},
      });
      const user = await insertUser(lone.db);
      const rental = await insertStoppedRental(lone.db, user.id, { closed_at: new Date() });
      for (const id of [operationId, newId('op')]) {
        await lone.db.transaction(async (trx) => {
          await trx('operator_orders').insert({
            id,
            kind: 'refund_rentals',
            request: {
              kind: 'refund_rentals',
              providerCode: 'lab',
              from: longAgo.toISOString(),
              to: new Date().toISOString(),
              rentals: 1,
              amountCents: 10,
            },
            reason,
            requested_by: 'ann',
            requested_at: longAgo,
            status: 'requested',
          });
          await trx('operator_order_items').insert({ order_id: id, rental_no: rental.no, amount_cents: 10 });
        });
      }
      await revive();
      assert.deepEqual(temporal.asked.slice(longLived.length), [['start', 'operation', operationId]]);
      temporal.asked.length = 0;
      await revive();
      assert.ok(!temporal.ids.includes(operationId), 'it runs');
    });
  });
});
