import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { insertRentalRequest } from '../../../adapters/postgres/requests/opening-requests.js';
import { ProviderError } from '../../../adapters/providers/provider.js';
import { HOUR } from '../../../domain/durations.js';
import type { RentalId } from '../../../domain/ids.js';
import type { RentalRequest } from '../../../domain/rentals/request.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { whileClockIsOff } from '../../support/clock-off.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertListing, insertProvider, insertRental } from '../../support/money/factories.js';
import { getRental, insertWallet } from '../../support/money/money.js';

const inTime = new Date('2099-01-01T00:00:00.000Z');

/** Decision 158, "Machines in turn". */
describe('an upstream whose turn another purchase has just taken', () => {
  let lone: LoneActivities;
  /** Sells one machine at a time, by many offers; the other one sells any. */
  const paced = new ScriptedUpstream();
  const free = new ScriptedUpstream();
  before(async () => {
    lone = await startActivities({
      providers: new Map([
        ['paced', { ...paced.port, code: 'paced', createEveryMs: 4_500 }],
        ['free', { ...free.port, code: 'free' }],
      ]),
    });
    for (const code of ['paced', 'free']) await insertProvider(lone.db, code);
    for (let n = 0; n <= rentalLimits.openTries; n += 1)
      await insertListing(lone.db, {
        ...{ provider_code: 'paced', offer_id: `paced-${n}`, price_per_hour_cents: 100 + n },
      });
    await insertListing(lone.db, {
      ...{ provider_code: 'free', offer_id: 'free', price_per_hour_cents: 110 },
    });
  });
  beforeEach(async () => {
    paced.reset();
    free.reset();
    await lone.db('listings').update({ offered: true });
    await lone.db('allocation_attempts').delete();
  });
  after(() => lone.close());

  const isGone = () => Promise.reject(new ProviderError('no_capacity', 'it is gone', { status: 410 }));
  /** @param retryAfterMs by default longer than any search of these tests */
  const isTaken = (retryAfterMs = 600_000) => {
    const details = { outOfTurn: true, retryAfterMs };
    return Promise.reject(new ProviderError('rate_limited', 'it is not its turn', details));
  };
  const script = (...outcomes: (typeof isGone)[]): void => void paced.allocations.push(...outcomes);
  const times = (count: number, retryAfterMs?: number) =>
    Array.from({ length: count }, () => () => isTaken(retryAfterMs));

  async function open(): Promise<RentalId> {
    const { user_id: userId } = await insertWallet(lone.db, 1_000);
    const rentalId = newId('rent');
    const request: RentalRequest = {
      ...{ userId, familyId: 'rtx-4090', gpuCount: 1, templateId: 'ubuntu-24-04', region: null, name: null },
      ...{ sshKeyIds: [], autoStopAfterMs: null, maxSpendCents: null, maxPricePerHourCents: null },
    };
    await insertRentalRequest(lone.db, rentalId, request, inTime, null);
    await lone.run('openRental', { rentalId, open: { answerBefore: inTime.toISOString() } });
    return rentalId;
  }

  it('does not use up the tries of an opening with its other offers', async () => {
    script(isGone, ...times(rentalLimits.openTries));
    const { provider_code } = await getRental(lone.db, await open());
    assert.equal(provider_code, 'free');
    assert.deepEqual(
      paced.asked.map(([, offer]) => offer),
      ['paced-0', 'paced-1'],
      'its turn is the same for all its offers',
    );
  });

  it('queues an opening that was out of turn first where there is no queue', async () => {
    await lone.db('listings').where({ provider_code: 'free' }).update({ price_per_hour_cents: 95 });
    try {
      free.allocations.push(() => isTaken());
      script(...times(1, 4_000));
      const id = await open();
      assert.deepEqual(free.names, ['allocate']);
      assert.equal((await getRental(lone.db, id)).provider_code, 'paced');
      const [attempt] = await lone.db('allocation_attempts').where({ rental_id: id, state: 'open' });
      assert.ok(attempt?.launch_at, 'it waits for its turn');
    } finally {
      await lone.db('listings').where({ provider_code: 'free' }).update({ price_per_hour_cents: 110 });
    }
  });

  async function provisioning(): Promise<RentalId> {
    const { user_id: userId } = await insertWallet(lone.db, 1_000);
    return (await insertRental(lone.db, userId, { price_per_hour_cents: 110, pod_id: null })).id;
  }

  it('does not use up the tries of a search with its other offers', async () => {
    script(isGone, ...times(rentalLimits.openTries));
    const id = await provisioning();
    assert.equal(await lone.run('findPod', id, 60_000), null);
    assert.deepEqual(free.names, ['allocate']);
    assert.equal(paced.asked.length, 2);
  });

  it('is waited for by the database’s clock, whatever this process’s says', async () => {
    await lone.db('listings').where({ provider_code: 'free' }).update({ offered: false });
    script(...times(1, 200));
    const id = await provisioning();
    assert.equal(await whileClockIsOff(HOUR, () => lone.run('findPod', id, 60_000)), null);
    assert.equal(paced.asked.length, 2);
  });

  it('is asked again by a search when its turn may have come, however often it had none', async () => {
    await lone.db('listings').where({ provider_code: 'free' }).update({ offered: false });
    script(...times(rentalLimits.openTries, 10));
    const id = await provisioning();
    assert.equal(await lone.run('findPod', id, 60_000), null);
    assert.deepEqual(
      paced.asked.map(([, offer]) => offer),
      Array.from({ length: rentalLimits.openTries + 1 }, () => 'paced-0'),
    );
    const attempts = await lone.db('allocation_attempts').where({ rental_id: id }).orderBy('attempt');
    assert.deepEqual(
      attempts.map(({ state, launch_at: at, asked_at: asked }) => [state, at !== null, asked]),
      [...times(rentalLimits.openTries).map(() => ['failed', true, null]), ['adopted', false, null]],
      'each that was not asked for says so',
    );
  });
});
