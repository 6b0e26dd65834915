import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { ProcessorEvent } from '../../../adapters/processor/processor.js';
import { HOUR, MINUTE } from '../../../domain/durations.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedTemporal } from '../../support/activities/scripted-temporal.js';

describe('backfillEvents by a clock that is wrong', () => {
  let lone: LoneActivities;
  let sent: ProcessorEvent[];
  before(async () => {
    lone = await startActivities({ temporal: new ScriptedTemporal().port });
  });
  beforeEach(async () => {
    sent = [];
    lone.processor.reset();
    // As the processor does it, by its own clock.
    lone.processor.answers = {
      listEvents: ({ since }) =>
        Promise.resolve({ events: sent.filter(({ createdAt }) => createdAt >= since), after: null }),
    };
    await seenUntil(0);
  });
  after(() => lone.close());

  const backfill = () => lone.run('backfillEvents');

  /** Sets how far was read, from the database's clock on. */
  async function seenUntil(ms: number): Promise<void> {
    const at = lone.db.raw(`clock_ms() + ? * interval '1 millisecond'`, [ms]);
    await lone.db('event_cursor').update({ seen_until: at });
  }

  const cursor = async () => (await lone.db('event_cursor').first('seen_until'))!.seen_until.getTime();

  /** An event of which the webhook never heard, made so long ago by the processor's clock. */
  function lose(agoMs = 0): string {
    const id = newId('evt');
    const object = { id: `pm_${id}`, object: 'payment_method' };
    const createdAt = new Date(Date.now() - agoMs);
    sent.push({ id, kind: 'payment_method.detached', createdAt, livemode: false, apiVersion: null, object });
    return id;
  }

  it('reads what is missed now though the cursor lies ahead, and brings the cursor back', async () => {
    await seenUntil(24 * HOUR);
    lose();
    assert.equal((await backfill()).missed, 1);
    assert.ok((await cursor()) <= Date.now(), 'the next time reads from here on');
    lose();
    assert.deepEqual(await backfill(), { read: 2, missed: 1 });
  });

  it('brings the cursor back where there is no event as well', async () => {
    await seenUntil(24 * HOUR);
    assert.deepEqual(await backfill(), { read: 0, missed: 0 });
    assert.ok((await cursor()) <= Date.now());
  });

  it('misses nothing that was lost while our clock ran ahead: the cursor goes by the processor’s', async () => {
    await seenUntil(-3 * HOUR);
    lose(2 * HOUR);
    assert.equal((await backfill()).missed, 1);
    // By its clock this came a minute later; by ours, hours ago.
    lose(2 * HOUR - MINUTE);
    assert.equal((await backfill()).missed, 1);
  });

  it('goes on from the newest event, and never back behind it', async () => {
    await seenUntil(-3 * HOUR);
    lose(2 * HOUR);
    await backfill();
    const after = await cursor();
    assert.equal(after, sent[0]!.createdAt.getTime());
    sent = [];
    await backfill();
    assert.equal(await cursor(), after);
  });
});
