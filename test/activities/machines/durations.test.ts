import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { insertAttempt } from '../../../adapters/postgres/machines/attempts.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { meteringLimits } from '../../../domain/metering/limits.js';
import {
  insertProvider,
  insertRental,
  insertRunningRental,
  insertUser,
} from '../../support/money/factories.js';
import { credit } from '../../support/money/money.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';

const EVER = 1e12;

/** Whoever starts a rental's workflow says these durations: decision 150, "Words of the API". */
describe('the durations of a rental’s workflow', () => {
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities({ providers: new Map([['lab', new ScriptedUpstream().port]]) });
    await insertProvider(lone.db);
  });
  after(() => lone.close());

  it('give no machine longer to come up than it has', async () => {
    const { id: userId } = await insertUser(lone.db);
    const started_at = new Date(Date.now() - rentalLimits.provisionDeadlineMs - 60_000);
    const { id } = await insertRental(lone.db, userId, { started_at, pod_id: 'pod-1' });
    const outcome = (await lone.run('awaitPod', id, EVER)) as { kind: string };
    assert.equal(outcome.kind, 'failed');
  });

  for (const said of [undefined, null, Number.NaN, 'soon'] as unknown as number[]) {
    it(`are the product’s own where somebody says ${said}`, async () => {
      const { id: userId } = await insertUser(lone.db);
      await credit(lone.db, userId, 1_000_000);
      const started_at = new Date(Date.now() - rentalLimits.provisionDeadlineMs - 60_000);
      const late = await insertRental(lone.db, userId, { started_at, pod_id: 'pod-1' });
      const waits = (await lone.run('awaitPod', late.id, said)) as { kind: string; error: string };
      assert.match(waits.error, /within 600 seconds/);
      const running = await insertRunningRental(lone.db, userId, 1_000, { pod_id: 'pod-2' });
      const { nextLookMs } = (await lone.run('meterRental', running.id, said)) as { nextLookMs: number };
      assert.ok(nextLookMs > 1_000 && nextLookMs <= meteringLimits.beltMs + 50, String(nextLookMs));
      const lost = await insertRental(lone.db, userId, { pod_id: null });
      const created_at = new Date(Date.now() - rentalLimits.unknownFindMs - 1_000);
      await insertAttempt(lone.db, {
        ...{
          rentalId: lost.id,
          deployment: 'test',
          providerCode: 'lab',
          listingId: newId('lst'),
          offerId: 'o',
        },
        ...{ pricePerHourCents: 1, endBy: null, deadlineMs: 600_000 },
      });
      await lone.db('allocation_attempts').where({ rental_id: lost.id }).update({ created_at });
      assert.equal((await lone.run('findPod', lost.id, said))?.kind, 'failed');
    });
  }

  it('put no look at the meter off', async () => {
    const { id: userId } = await insertUser(lone.db);
    await credit(lone.db, userId, 1_000_000);
    const { id } = await insertRunningRental(lone.db, userId, 1_000);
    const { nextLookMs } = (await lone.run('meterRental', id, EVER)) as { nextLookMs: number };
    assert.ok(nextLookMs <= meteringLimits.beltMs + 50, String(nextLookMs));
  });
});
