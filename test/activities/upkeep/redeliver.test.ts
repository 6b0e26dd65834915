import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { ProcessorEventRow, StuckItemRow } from '../../../adapters/postgres/rows/tables.js';
import { operationLimits } from '../../../domain/operations/limits.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedTemporal } from '../../support/activities/scripted-temporal.js';
import { ageLoops } from '../../support/story/ageing.js';

describe('redeliver', () => {
  const temporal = new ScriptedTemporal();
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities({ temporal: temporal.port });
  });
  beforeEach(async () => {
    temporal.reset();
    for (const table of ['processor_events', 'look_signals', 'stuck_items']) await lone.db(table).delete();
  });
  after(() => lone.close());

  const redeliver = () => lone.round('redeliver');

  /** An event about a top-up that has waited for longer than its signal takes. @returns the top-up's id */
  async function leaveEvent(columns: Partial<ProcessorEventRow> = {}): Promise<string> {
    const workflowId = newId('top');
    await lone.db('processor_events').insert({
      id: `evt_${workflowId}`,
      kind: 'payment_intent.succeeded',
      created_at: new Date(),
      received_at: new Date(Date.now() - operationLimits.eventRedeliverMs - 50_000),
      livemode: false,
      object: {},
      workflow_id: workflowId,
      workflow_type: 'topup',
      ...columns,
    });
    return workflowId;
  }

  async function stuck(item: string): Promise<StuckItemRow | undefined> {
    return lone.db('stuck_items').where({ duty: 'workflow', item }).first();
  }

  /** The looks of these workflows have ended. */
  async function look(...ids: string[]): Promise<void> {
    await lone.db('look_signals').whereIn('workflow_id', ids).update({ told_at: null });
  }

  it('tells nobody when no event waits: one is young, one is handled, one is nobody’s', async () => {
    await leaveEvent({ received_at: new Date() });
    await leaveEvent({ handled_at: new Date() });
    await leaveEvent({ workflow_id: null, workflow_type: null });
    assert.deepEqual(await redeliver(), { workflows: 0 });
    assert.deepEqual(temporal.asked, []);
  });

  it('tells a workflow once of all that waits for it, and not again before it has looked', async () => {
    const id = await leaveEvent();
    await leaveEvent({ id: 'evt_second', workflow_id: id });
    assert.deepEqual(await redeliver(), { workflows: 1 });
    assert.deepEqual(await redeliver(), { workflows: 0 });
    assert.deepEqual(temporal.asked, [['signalWithStart', 'topup', id]]);
    await look(id);
    assert.deepEqual(await redeliver(), { workflows: 1 });
    assert.deepEqual(temporal.ids, [id, id]);
  });

  it('tells the others when one can not be told, which is counted and has its next try in time', async () => {
    const bad = await leaveEvent({ received_at: new Date(Date.now() - 3_600_000) });
    const good = await leaveEvent();
    temporal.refusing.add(bad);
    assert.deepEqual(await redeliver(), { workflows: 1 });
    assert.deepEqual(temporal.ids, [bad, good], 'the bad one first, for it has waited for longer');
    const counted = await stuck(bad);
    assert.deepEqual([counted?.attempts, counted?.last_error], [1, 'Error: its run takes no more signals']);
    assert.equal(await stuck(good), undefined);

    assert.deepEqual(await redeliver(), { workflows: 0 }, 'not before its time');
    await lone.db('processor_events').where({ workflow_id: good }).update({ handled_at: new Date() });
    await ageLoops(lone.db, 20_000);
    await redeliver();
    assert.equal((await stuck(bad))?.attempts, 2);
    temporal.refusing.clear();
    await ageLoops(lone.db, 40_000);
    temporal.asked.length = 0;
    assert.deepEqual(await redeliver(), { workflows: 1 });
    assert.deepEqual(temporal.ids, [bad], 'the signal that failed counts as none');
    assert.equal((await stuck(bad))?.attempts, 2, 'whether it is done is told by its look');
  });

  it('counts nothing against anybody while Temporal is away, and tells them as soon as it is back', async () => {
    const ids = [await leaveEvent(), await leaveEvent()];
    temporal.isAway = true;
    await assert.rejects(redeliver(), /nobody answers/);
    assert.deepEqual(await lone.db('stuck_items'), []);
    temporal.isAway = false;
    assert.deepEqual(await redeliver(), { workflows: 2 });
    assert.deepEqual(temporal.ids.toSorted(), ids.toSorted());
  });

  it('counts one that was told a minute ago and has not looked, once, and tells it again', async () => {
    const id = await leaveEvent();
    await redeliver();
    await ageLoops(lone.db, operationLimits.lookUnhandledMs + 1_000);
    assert.deepEqual(await redeliver(), { workflows: 1 });
    assert.deepEqual(temporal.ids, [id, id]);
    const counted = await stuck(id);
    assert.equal(counted?.attempts, 1);
    assert.match(counted.last_error, /has a signal but did not act on it/);
  });

  it('counts no look beside the failure that the look itself has counted', async () => {
    const id = await leaveEvent();
    await redeliver();
    await ageLoops(lone.db, operationLimits.lookUnhandledMs + 1_000);
    const now = lone.db.raw('clock_ms()');
    await lone.db('stuck_items').insert({
      duty: 'workflow',
      item: id,
      attempts: 3,
      last_error: 'the bank is closed',
      first_failed_at: now,
      last_failed_at: now,
      next_attempt_at: now,
    });
    await redeliver();
    const { attempts, last_error } = (await stuck(id))!;
    assert.deepEqual([attempts, last_error], [3, 'the bank is closed']);
  });

  it('tells nobody more often than the server takes in a day', async () => {
    const id = await leaveEvent();
    await redeliver();
    await lone.db('look_signals').update({ told_at: null, signals: operationLimits.looksPerDay - 1 });
    await redeliver();
    await look(id);
    assert.deepEqual(await redeliver(), { workflows: 1 });
    assert.deepEqual(temporal.ids, [id, id], 'the third is not sent');
    assert.equal(await stuck(id), undefined);
  });
});
