import assert from 'node:assert/strict';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { meteringLimits } from '../../../domain/metering/limits.js';
import {
  insertProvider,
  insertRental,
  insertRunningRental,
  insertUser,
} from '../../support/money/factories.js';
import { credit } from '../../support/money/money.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';

const EVER = 1e12;

/** Whoever starts a rental's workflow says these durations: decision 150, "Words of the API". */
describe('the durations of a rental’s workflow', () => {
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities();
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

  it('put no look at the meter off', async () => {
    const { id: userId } = await insertUser(lone.db);
    await credit(lone.db, userId, 1_000_000);
    const { id } = await insertRunningRental(lone.db, userId, 1_000);
    const { nextLookMs } = (await lone.run('meterRental', id, EVER)) as { nextLookMs: number };
    assert.ok(nextLookMs <= meteringLimits.beltMs + 50, String(nextLookMs));
  });
});
