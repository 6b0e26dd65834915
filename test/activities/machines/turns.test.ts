import assert from 'node:assert/strict';
import { buyPod } from '../../../activities/rentals/allocation.js';
import { newId } from '../../../adapters/ids.js';
import { insertAttempt, moveAttempt, type NewAttempt } from '../../../adapters/postgres/machines/attempts.js';
import { countQueued } from '../../../adapters/postgres/machines/queued-attempts.js';
import {
  ProviderError,
  type AllocationRequest,
  type Provider,
} from '../../../adapters/providers/provider.js';
import type { ListingRow } from '../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../domain/ids.js';
import { HOUR } from '../../../domain/durations.js';
import { noSoftware } from '../../../domain/rentals/software.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { whileClockIsOff } from '../../support/clock-off.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertListing, insertProvider, insertRental } from '../../support/money/factories.js';
import { insertWallet } from '../../support/money/money.js';

const software = { image: 'team/server:1', ports: [], diskGb: 90, secretsId: null };

/** Decision 158, "Machines in turn". */
describe('a purchase in the queue of an upstream', () => {
  let lone: LoneActivities;
  let listing: ListingRow;
  const upstream = new ScriptedUpstream();
  const orders: AllocationRequest[] = [];
  before(async () => {
    const inTurn: Provider = {
      ...upstream.port,
      ...{ code: 'turns', createEveryMs: 40_000 },
      allocate(request) {
        orders.push(request);
        return upstream.port.allocate(request);
      },
    };
    lone = await startActivities({ providers: new Map([['turns', inTurn]]) });
    await insertProvider(lone.db, 'turns');
    listing = await insertListing(lone.db, { provider_code: 'turns', price_per_hour_cents: 95 });
  });
  beforeEach(async () => {
    upstream.reset();
    orders.length = 0;
    await lone.db('allocation_attempts').delete();
  });
  after(() => lone.close());

  async function provisioning(columns: object = {}): Promise<RentalId> {
    const { user_id: userId } = await insertWallet(lone.db, 1_000);
    const { id } = await insertRental(lone.db, userId, { price_per_hour_cents: 110, pod_id: null });
    await lone
      .db('rentals')
      .where({ id })
      .update({ name: 'queued', ...columns });
    return id;
  }
  const queue = (rentalId: RentalId) =>
    insertAttempt(lone.db, { ...attemptOf(rentalId, listing), launchAfterMs: 0 });
  const countAttempts = async () => (await lone.db('allocation_attempts')).length;

  it('is not asked for again while its upstream refuses to be asked', async () => {
    const id = await provisioning();
    await queue(id);
    const WAIT_MS = 700;
    let refusedAt = 0;
    upstream.allocations.push(() => {
      refusedAt = Date.now();
      const details = { outOfTurn: true, retryAfterMs: WAIT_MS };
      return Promise.reject(new ProviderError('rate_limited', 'it is not its turn', details));
    });
    let askedAt = 0;
    upstream.allocations.push((request) => {
      askedAt = Date.now();
      return upstream.sell(request);
    });
    assert.equal(await lone.run('findPod', id, 60_000), null);
    assert.ok(askedAt - refusedAt >= WAIT_MS, `asked again after ${askedAt - refusedAt} ms`);
  });

  it('has its turn in time by the database’s clock, whatever this process’s says', async () => {
    const id = await provisioning();
    const { id: attemptId } = await queue(id);
    assert.equal(await whileClockIsOff(HOUR, () => lone.run('findPod', id, 60_000)), null);
    const row = await lone.db('allocation_attempts').where({ id: attemptId }).first();
    assert.deepEqual([row?.state, upstream.names], ['adopted', ['allocate']]);
  });

  it('does not wait behind one that a crash left without a rental', async () => {
    const crashed = await queue(newId('rent'));
    const id = await provisioning();
    await queue(id);
    assert.equal(await countQueued(lone.db, 'turns'), 2, 'an opening may still be under way');
    const created_at = new Date(Date.now() - rentalLimits.openBudgetMs - 1_000);
    await lone.db('allocation_attempts').where({ id: crashed.id }).update({ created_at });
    assert.equal(await countQueued(lone.db, 'turns'), 1);
    assert.equal(await lone.run('findPod', id, 60_000), null);
    assert.deepEqual(upstream.names, ['allocate']);
  });

  it('asks for all of the renter’s own software', async () => {
    const id = await provisioning({ software: JSON.stringify(software) as never });
    await queue(id);
    assert.equal(await lone.run('findPod', id, 60_000), null);
    assert.deepEqual(orders[0]?.software, { ...noSoftware, image: software.image, diskGb: 90 });
  });

  it('keeps its place, and a purchase is not begun, while own software can’t be opened', async () => {
    const wiped = { ...software, secretsId: newId('sw') };
    const id = await provisioning({ software: JSON.stringify(wiped) as never });
    const { id: attemptId } = await queue(id);
    await assert.rejects(lone.run('findPod', id, 60_000), /are wiped/);
    const row = await lone.db('allocation_attempts').where({ id: attemptId }).first();
    assert.deepEqual([row?.state, row?.asked_at], ['open', null]);
    await lone.db('allocation_attempts').delete();
    const order = {
      ...{ rentalId: id, listing, templateId: 'own-software', software: wiped as never, publicKeys: [] },
      ...{ endBy: null, maxPricePerHourCents: 110, telemetry: false },
    };
    await assert.rejects(buyPod(lone.deps, order), /are wiped/);
    assert.equal(await countAttempts(), 0);
  });
});

const attemptOf = (rentalId: RentalId, listing: ListingRow): NewAttempt => ({
  rentalId,
  deployment: 'test',
  providerCode: listing.provider_code,
  listingId: listing.id,
  offerId: listing.offer_id,
  pricePerHourCents: listing.price_per_hour_cents,
  endBy: null,
  deadlineMs: 600_000,
});

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
      ...attemptOf(rentalId, listing),
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
