import assert from 'node:assert/strict';
import { insertAttempt, moveAttempt } from '../../../adapters/postgres/machines/attempts.js';
import type { AllocationAttemptRow, ListingRow } from '../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../domain/ids.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { recordAnswer } from '../../../money/rentals/answered-machines.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertListing, insertProvider, insertRental } from '../../support/money/factories.js';
import { getRental, insertWallet } from '../../support/money/money.js';

const BAD = 'gpu-proof 1 0\nTesla T4, 15360 MiB, 0, 570.133.20, [N/A]\n';
const MINUTE_MS = 60_000;

/** Decision 179, "Next machine after bad". */
describe('a rental whose machine is bad', () => {
  let lone: LoneActivities;
  let first: ListingRow;
  const upstream = new ScriptedUpstream();
  before(async () => {
    const port = { ...upstream.port, proof: 'machine' as const };
    lone = await startActivities({ providers: new Map([['lab', port]]) });
    await insertProvider(lone.db);
  });
  beforeEach(async () => {
    upstream.reset();
    await lone.db('bad_machines').delete();
    await lone.db('allocation_attempts').delete();
    await lone.db('listings').delete();
    first = await sell('first', { host: 'one' });
  });
  after(() => lone.close());

  const sell = (offer: string, columns: Partial<ListingRow> = {}) =>
    insertListing(lone.db, { offer_id: offer, price_per_hour_cents: 50, ...columns });

  /** Rents the first machine, of which the upstream tells the host, and which says that it is bad. */
  async function rentBad(columns: object = {}): Promise<RentalId> {
    const { db } = lone;
    const { user_id: userId } = await insertWallet(db, 1_000);
    const { id } = await insertRental(db, userId, { price_per_hour_cents: 50, pod_id: null });
    const attempt = await insertAttempt(db, attemptOf(id, first));
    await moveAttempt(db, attempt.id, 'open', 'adopted', { podId: attempt.tag });
    const terms = { tag: attempt.tag, pod_id: attempt.tag, listing_id: first.id };
    await db('rentals')
      .where({ id })
      .update({ ...terms, ...columns });
    await show(attempt);
    return id;
  }

  async function show({ id, tag }: Pick<AllocationAttemptRow, 'id' | 'tag'>): Promise<void> {
    await lone.db('pods').insert({
      ...{ provider_code: 'lab', pod_id: tag, tag, status: 'active', upstream_status: 'active' },
      first_seen_at: new Date(),
    });
    await lone.db('machine_reports').insert({ attempt_id: id, no: 1, body: BAD });
  }

  const awaitPod = (id: RentalId) => lone.run('awaitPod', id, 10 * MINUTE_MS);
  const findPod = (id: RentalId) => lone.run('findPod', id, MINUTE_MS);
  const attemptsOf = (id: RentalId) =>
    lone.db('allocation_attempts').where({ rental_id: id }).orderBy('attempt');
  const answersOf = (no: number) => lone.db('answered_machines').where({ rental_no: no });
  const statesOf = async (id: RentalId) => (await attemptsOf(id)).map(({ state }) => state);

  async function assertLeft(id: RentalId): Promise<void> {
    const outcome = await awaitPod(id);
    assert.equal(outcome.kind, 'failed');
    assert.equal(outcome.isLeft, true);
    assert.match(outcome.error, /^The machine is not what you rented\. It has another GPU/);
    const row = await getRental(lone.db, id);
    assert.deepEqual([row.status, row.pod_id], ['provisioning', null]);
    assert.deepEqual(await statesOf(id), ['condemned']);
  }

  it('has it ended, and gets the next one that costs no more, on another host', async () => {
    await sell('same host', { host: 'one', price_per_hour_cents: 40 });
    await sell('dearer', { host: 'two', price_per_hour_cents: 51 });
    await sell('next', { host: 'three', price_per_hour_cents: 50, model: 'RTX_4090_D', region: 'Bergen' });
    const id = await rentBad();
    await assertLeft(id);
    assert.deepEqual(upstream.names, ['terminate']);
    assert.equal(await findPod(id), null);
    const [bad, next] = await attemptsOf(id);
    assert.deepEqual(upstream.asked, [
      ['terminate', bad?.tag],
      ['allocate', 'next'],
    ]);
    const row = await getRental(lone.db, id);
    assert.deepEqual([row.tag, row.pod_id], [next?.tag, next?.pod_id]);
    assert.deepEqual([row.model, row.region, row.price_per_hour_cents], ['RTX_4090_D', 'Bergen', 50]);
    const [finding] = await lone.db('bad_machines').where({ rental_id: id });
    assert.deepEqual([finding?.machine, finding?.outcome, finding?.confirmed], ['one', 'not_billed', true]);
  });

  it('has it left, not failed, where it is late as well', async () => {
    await sell('next', { host: 'two' });
    const id = await rentBad();
    await lone
      .db('allocation_attempts')
      .where({ rental_id: id })
      .update({ deadline_ms: 1, created_at: new Date(Date.now() - MINUTE_MS) });
    await assertLeft(id);
    assert.equal(await findPod(id), null);
  });

  it('gets one once more where that is bad as well', async () => {
    await sell('next');
    await sell('third');
    const id = await rentBad();
    await assertLeft(id);
    await findPod(id);
    const [, next] = await attemptsOf(id);
    await show(next!);
    assert.equal((await awaitPod(id)).kind, 'failed');
    assert.equal(await findPod(id), null);
    assert.deepEqual(await statesOf(id), ['condemned', 'condemned', 'adopted']);
    assert.equal(upstream.names.join(' '), 'terminate allocate terminate allocate');
  });

  it('fails and says why where no other one is left', async () => {
    const id = await rentBad();
    await assertLeft(id);
    const outcome = await findPod(id);
    assert.equal(outcome?.kind, 'failed');
    assert.match(
      outcome.error,
      /^The machine is not what you rented\. .* We found no other machine for you, and returned the hold\.$/,
    );
    assert.deepEqual(upstream.names, ['terminate']);
  });

  it('says that the tries are over where others are still on offer', async () => {
    await sell('next', { host: 'two' });
    const id = await rentBad();
    await assertLeft(id);
    for (let n = 1; n < rentalLimits.openTries; n += 1) {
      const { id: tried } = await insertAttempt(lone.db, attemptOf(id, first));
      await moveAttempt(lone.db, tried, 'open', 'failed');
    }
    const outcome = await findPod(id);
    assert.equal(outcome?.kind, 'failed');
    assert.match(outcome.error, / We gave up after 5 tries, and returned the hold\.$/);
    assert.deepEqual(upstream.names, ['terminate']);
  });

  it('gets another one once with own software, which may call each one bad', async () => {
    const software = JSON.stringify({ ports: [] }) as never;
    const id = await rentBad({ software });
    assert.equal((await awaitPod(id)).kind, 'failed');
    await sell('next');
    const second = await insertAttempt(lone.db, attemptOf(id, first));
    await moveAttempt(lone.db, second.id, 'open', 'adopted', { podId: second.tag });
    await lone.db('rentals').where({ id }).update({ tag: second.tag, pod_id: second.tag });
    await show(second);
    const outcome = await awaitPod(id);
    assert.deepEqual([outcome.kind, 'isLeft' in outcome], ['failed', false]);
    assert.deepEqual(await statesOf(id), ['condemned', 'adopted']);
    assert.equal((await getRental(lone.db, id)).pod_id, second.tag);
  });

  describe('and whose worker dies', () => {
    it('once the machine was asked to end: it is asked again, and is no lost one', async () => {
      const id = await rentBad();
      const { tag } = await getRental(lone.db, id);
      await lone.db('pods').where({ tag }).update({ status: 'ending' });
      await assertLeft(id);
      assert.deepEqual(upstream.names, ['terminate']);
    });

    it('once the machine was left: it is left once, and one other is bought', async () => {
      await sell('next');
      const id = await rentBad();
      await assertLeft(id);
      await assertLeft(id);
      assert.equal(await findPod(id), null);
      assert.equal(await findPod(id), null);
      assert.deepEqual(await statesOf(id), ['condemned', 'adopted']);
      assert.equal((await lone.db('bad_machines').where({ rental_id: id })).length, 1);
    });

    it('before its machine’s answer came to anything: nothing is billed without a machine', async () => {
      const id = await rentBad();
      const { no, tag } = await getRental(lone.db, id);
      const answer = () => recordAnswer(lone.db, { rentalId: id, tag }, { address: null, readyBy: 'port' });
      await answer();
      await assertLeft(id);
      assert.deepEqual(await answersOf(no), []);
      // An attempt that was overtaken still holds what it read of the machine.
      await answer();
      assert.deepEqual(await answersOf(no), []);
      await lone.db('answered_machines').insert({ rental_no: no, ready_by: 'port' } as never);
      assert.equal((await lone.run('startMetering', id)).phase, 'find_pod');
      assert.equal((await getRental(lone.db, id)).running_at, null);
      await lone.db('answered_machines').delete();
      await sell('next', { host: 'two' });
      assert.equal(await findPod(id), null);
      await answer();
      assert.deepEqual(await answersOf(no), []);
    });

    it('once the next one was sold: it is found, and no third one is bought', async () => {
      const next = await sell('next', { model: 'RTX_4090_D' });
      await sell('third');
      const id = await rentBad();
      await assertLeft(id);
      const attempt = await insertAttempt(lone.db, attemptOf(id, next));
      await upstream.sell({ tag: attempt.tag, maxPricePerHourCents: 50 } as never);
      assert.equal(await findPod(id), null);
      assert.deepEqual(await statesOf(id), ['condemned', 'adopted']);
      const row = await getRental(lone.db, id);
      assert.deepEqual([row.tag, row.listing_id, row.model], [attempt.tag, next.id, 'RTX_4090_D']);
      assert.ok(!upstream.names.includes('allocate'));
    });
  });

  it('is stopped, not given another one, where its renter asked for that meanwhile', async () => {
    await sell('next');
    const id = await rentBad();
    await assertLeft(id);
    const { no } = await getRental(lone.db, id);
    await lone.db('stop_requests').insert({ rental_no: no, requested_by: 'user' } as never);
    assert.deepEqual(await findPod(id), { kind: 'stopped' });
    assert.deepEqual(upstream.names, ['terminate']);
  });
});

const attemptOf = (rentalId: RentalId, listing: ListingRow) => ({
  ...{ rentalId, deployment: 'test', providerCode: 'lab', listingId: listing.id, offerId: listing.offer_id },
  ...{ pricePerHourCents: listing.price_per_hour_cents, endBy: null, deadlineMs: 10 * MINUTE_MS },
});
