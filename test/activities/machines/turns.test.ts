import assert from 'node:assert/strict';
import { insertAttempt, moveAttempt } from '../../../adapters/postgres/machines/attempts.js';
import type { ListingRow } from '../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../domain/ids.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertListing, insertProvider, insertRental } from '../../support/money/factories.js';
import { insertWallet } from '../../support/money/money.js';

/** Decision 158, "Machines in turn". */
describe('a rental that looks for another machine while others have their turn', () => {
  let lone: LoneActivities;
  let failed: ListingRow;
  const upstream = new ScriptedUpstream();
  before(async () => {
    const inTurn = { ...upstream.port, code: 'turns', createEveryMs: 40_000 };
    lone = await startActivities({
      providers: new Map([
        ['lab', upstream.port],
        ['turns', inTurn],
      ]),
    });
    await insertProvider(lone.db);
    await insertProvider(lone.db, 'turns');
    failed = await insertListing(lone.db, { offer_id: 'failed', price_per_hour_cents: 90 });
    const queued = await insertListing(lone.db, {
      provider_code: 'turns',
      offer_id: 'queued',
      price_per_hour_cents: 95,
    });
    await attempt((await provisioning()).id, queued, 40_000);
  });
  beforeEach(() => upstream.reset());
  after(() => lone.close());

  async function provisioning() {
    const { user_id: userId } = await insertWallet(lone.db, 1_000);
    return insertRental(lone.db, userId, { price_per_hour_cents: 110, pod_id: null });
  }

  const attempt = (rentalId: RentalId, listing: ListingRow, launchAfterMs?: number) =>
    insertAttempt(lone.db, {
      rentalId,
      deployment: 'test',
      providerCode: listing.provider_code,
      listingId: listing.id,
      offerId: listing.offer_id,
      pricePerHourCents: listing.price_per_hour_cents,
      endBy: null,
      deadlineMs: 600_000,
      ...(launchAfterMs !== undefined && { launchAfterMs }),
    });

  async function withFailedAttempt(endedMsAgo: number): Promise<RentalId> {
    const { id } = await provisioning();
    const { id: attemptId } = await attempt(id, failed);
    await moveAttempt(lone.db, attemptId, 'open', 'failed', { failedBy: 'upstream' });
    const changed_at = new Date(Date.now() - endedMsAgo);
    await lone.db('allocation_attempts').where({ id: attemptId }).update({ changed_at });
    return id;
  }

  it('gives up when no turn came in time', async () => {
    const id = await withFailedAttempt(rentalLimits.queueMs - 700);
    assert.deepEqual((await lone.run('findPod', id, 60_000))?.kind, 'failed');
    assert.deepEqual(upstream.asked, []);
  });

  it('goes on to the next offer', async () => {
    await insertListing(lone.db, { offer_id: 'free', price_per_hour_cents: 100 });
    const id = await withFailedAttempt(0);
    assert.equal(await lone.run('findPod', id, 60_000), null);
    assert.deepEqual(upstream.asked, [['allocate', 'free']]);
  });
});
