import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { insertAttempt, moveAttempt } from '../../../adapters/postgres/machines/attempts.js';
import { writeIdleGuard } from '../../../adapters/postgres/rentals/idle-guards.js';
import type { AllocationRequest, Provider } from '../../../adapters/providers/provider.js';
import type { ListingRow, RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { reportedUse } from '../../../domain/machines/telemetry.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertListing, insertProvider, insertRental } from '../../support/money/factories.js';
import { getRental, insertWallet } from '../../support/money/money.js';

/** Decision 181, "A reporter of use". */
describe('a rental that is guarded while it looks for its machine', () => {
  let lone: LoneActivities;
  let failed: ListingRow;
  let next: ListingRow;
  const upstream = new ScriptedUpstream();
  const orders: AllocationRequest[] = [];
  before(async () => {
    const reporting: Provider = {
      ...upstream.port,
      ...{ code: 'reporting', telemetry: reportedUse, createEveryMs: 40_000 },
      allocate(request) {
        orders.push(request);
        return upstream.port.allocate(request);
      },
    };
    const installationKey = randomBytes(32).toString('base64');
    lone = await startActivities({
      providers: new Map([['reporting', reporting]]),
      settings: { machineUrl: 'https://machines.example.com', installationKey },
    });
    for (const code of ['lab', 'reporting']) await insertProvider(lone.db, code);
    failed = await insertListing(lone.db, { provider_code: 'lab' });
    next = await insertListing(lone.db, { provider_code: 'reporting', price_per_hour_cents: 90 });
  });
  beforeEach(async () => {
    upstream.reset();
    orders.length = 0;
    await lone.db('allocation_attempts').delete();
  });
  after(() => lone.close());

  async function provisioning(): Promise<RentalRow> {
    const { user_id: userId } = await insertWallet(lone.db, 1_000);
    return insertRental(lone.db, userId, { price_per_hour_cents: 110, pod_id: null });
  }
  const guard = ({ no }: RentalRow) =>
    lone.db.transaction((trx) => writeIdleGuard(trx, no, { minutes: 15, ignores: [] }));
  const attempt = ({ id: rentalId }: RentalRow, listing: ListingRow, launchAfterMs?: number) =>
    insertAttempt(lone.db, {
      ...{ rentalId, deployment: 'test', providerCode: listing.provider_code, listingId: listing.id },
      ...{ offerId: listing.offer_id, pricePerHourCents: 90, endBy: null, deadlineMs: 600_000 },
      ...(launchAfterMs !== undefined && { launchAfterMs }),
    });

  const ways = {
    async 'the next one after a failure'(rental: RentalRow) {
      const { id } = await attempt(rental, failed);
      await moveAttempt(lone.db, id, 'open', 'failed', { failedBy: 'upstream' });
    },
    async 'one in turn'(rental: RentalRow) {
      await attempt(rental, next, 0);
    },
  };
  for (const [way, begin] of Object.entries(ways)) {
    it(`has it report its use: ${way}`, async () => {
      const rental = await provisioning();
      await begin(rental);
      await guard(rental);
      assert.equal(await lone.run('findPod', rental.id, 60_000), null);
      assert.match(orders[0]?.reporter?.url ?? '', /\/v1\/machine\/use$/);
      // Its guard can be changed later.
      assert.equal((await getRental(lone.db, rental.id)).telemetry, true);
    });

    it(`has nothing report without a guard: ${way}`, async () => {
      const rental = await provisioning();
      await begin(rental);
      assert.equal(await lone.run('findPod', rental.id, 60_000), null);
      assert.deepEqual([orders.length, orders[0]?.reporter], [1, undefined]);
      assert.equal((await getRental(lone.db, rental.id)).telemetry, false);
    });
  }
});
