import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { insertAttempt } from '../../../adapters/postgres/machines/attempts.js';
import { HOUR } from '../../../domain/durations.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { meteringLimits } from '../../../domain/metering/limits.js';
import {
  insertProvider,
  insertRental,
  insertRunningRental,
  insertUser,
} from '../../support/money/factories.js';
import { credit } from '../../support/money/money.js';
import { whileClockIsOff } from '../../support/clock-off.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';

const EVER = 1e12;

/** Whoever starts a rental's workflow says these durations: decision 150, "Words of the API". */
describe('the durations of a rental’s workflow', () => {
  let lone: LoneActivities;
  /** How often the upstream, which has no machine, may still be asked for one. */
  let looksLeft = Infinity;
  const find = () => {
    assert.ok((looksLeft -= 1) >= 0, 'it is asked for ever');
    return Promise.resolve(undefined);
  };
  before(async () => {
    lone = await startActivities({ providers: new Map([['lab', { ...new ScriptedUpstream().port, find }]]) });
    await insertProvider(lone.db);
  });
  after(() => lone.close());

  /** Has a purchase whose answer was lost so long ago. */
  async function loseAnswer(userId: UserId, agoMs: number): Promise<RentalId> {
    const { id: rentalId } = await insertRental(lone.db, userId, { pod_id: null });
    await insertAttempt(lone.db, {
      ...{ rentalId, deployment: 'test', providerCode: 'lab', listingId: newId('lst'), offerId: 'o' },
      ...{ pricePerHourCents: 1, endBy: null, deadlineMs: 600_000 },
    });
    const created_at = new Date(Date.now() - agoMs);
    await lone.db('allocation_attempts').where({ rental_id: rentalId }).update({ created_at });
    return rentalId;
  }

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
      const lost = await loseAnswer(userId, rentalLimits.unknownFindMs + 1_000);
      assert.equal((await lone.run('findPod', lost, said))?.kind, 'failed');
    });
  }

  it('run by the database’s clock where this process’s is behind', async () => {
    const { id: userId } = await insertUser(lone.db);
    const lost = await loseAnswer(userId, 1_000);
    looksLeft = 10;
    assert.equal((await whileClockIsOff(-HOUR, () => lone.run('findPod', lost, 10)))?.kind, 'failed');
  });

  it('begin anew where the clock was set back since', async () => {
    const { id: userId } = await insertUser(lone.db);
    const lost = await loseAnswer(userId, -HOUR);
    await lone.round('sweep');
    looksLeft = 10;
    assert.equal((await lone.run('findPod', lost, 10))?.kind, 'failed');
  });

  it('put no look at the meter off', async () => {
    const { id: userId } = await insertUser(lone.db);
    await credit(lone.db, userId, 1_000_000);
    const { id } = await insertRunningRental(lone.db, userId, 1_000);
    const { nextLookMs } = (await lone.run('meterRental', id, EVER)) as { nextLookMs: number };
    assert.ok(nextLookMs <= meteringLimits.beltMs + 50, String(nextLookMs));
  });
});
