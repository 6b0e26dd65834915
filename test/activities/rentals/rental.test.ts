import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { AllocationAttemptRow } from '../../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { ProviderError } from '../../../adapters/providers/provider.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertListing, insertProvider } from '../../support/money/factories.js';
import { getRental, getWallet, insertRunning, insertWallet } from '../../support/money/money.js';

const BALANCE = 1_000;
const CHEAP = 100;
const DEAR = 110;
const inTime = '2099-01-01T00:00:00.000Z';

describe('the activities of a rental', () => {
  let lone: LoneActivities;
  const upstream = new ScriptedUpstream();
  before(async () => {
    lone = await startActivities({ providers: new Map([['lab', upstream.port]]) });
    await insertProvider(lone.db);
    const cheap = await insertListing(lone.db, { offer_id: 'cheap', price_per_hour_cents: CHEAP });
    await insertListing(lone.db, { offer_id: 'dear', price_per_hour_cents: DEAR });
    // So many came up there that the tests that fail do not make the other one the better bargain (decision 176).
    await lone.db.raw(
      `insert into allocation_attempts (rental_id, attempt, provider_code, listing_id, offer_id, tag, price_per_hour_cents,
                                        state, answered_at)
       select 'rent_before_' || no, 1, 'lab', :id, 'cheap', 'before-' || no, :price, 'adopted', clock_ms()
         from generate_series(1, 1000) as no`,
      { id: cheap.id, price: CHEAP },
    );
  });
  beforeEach(async () => {
    upstream.reset();
    // A test with failing creates must not take the upstream out for the next test.
    await lone.db('providers').update({ create_failures: 0, out_until: null, out_reason: null });
  });
  after(() => lone.close());
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(lone.db), [], 'every wallet adds up');
  });

  interface Asked {
    readonly rentalId: RentalId;
    readonly userId: UserId;
  }

  /** A user with this much in the wallet who has asked for a machine. */
  async function ask(cents = BALANCE, familyId = 'rtx-4090'): Promise<Asked> {
    const { user_id: userId } = await insertWallet(lone.db, cents);
    const rentalId = newId('rent');
    await lone.db('rental_requests').insert({
      id: rentalId,
      user_id: userId,
      family_id: familyId,
      gpu_count: 1,
      template_id: 'ubuntu-24-04',
      ssh_key_ids: [],
      answer_before: new Date(inTime),
    });
    return { rentalId, userId };
  }

  const open = (rentalId: RentalId, answerBefore = inTime) =>
    lone.run('openRental', { rentalId, open: { answerBefore } });

  async function opened(): Promise<Asked> {
    const asked = await ask();
    await open(asked.rentalId);
    upstream.asked.length = 0;
    return asked;
  }

  async function purse(userId: UserId): Promise<{ available: number; reserved: number }> {
    const { available_cents: available, reserved_cents: reserved } = await getWallet(lone.db, userId);
    return { available, reserved };
  }

  async function attempts(rentalId: RentalId): Promise<AllocationAttemptRow[]> {
    return lone.db('allocation_attempts').where({ rental_id: rentalId }).orderBy('id');
  }

  async function hasRow(rentalId: RentalId): Promise<boolean> {
    return (await lone.db('rentals').where({ id: rentalId }).first('no')) !== undefined;
  }

  async function requestStop(rentalId: RentalId): Promise<void> {
    const { no } = await getRental(lone.db, rentalId);
    await lone.db('stop_requests').insert({ rental_no: no, requested_by: 'user' });
  }

  describe('openRental', () => {
    it('buys the cheapest machine and holds its first hour, and does neither again when it runs twice', async () => {
      const { rentalId, userId } = await ask();
      const first = await open(rentalId);
      const { look, ...answer } = first;
      assert.deepEqual(answer, { rentalId, pricePerHourCents: CHEAP, providerCode: 'lab' });
      assert.deepEqual(look, await lone.run('lookAtRental', rentalId));
      assert.deepEqual(await open(rentalId), first);
      assert.deepEqual(upstream.asked, [['allocate', 'cheap']]);
      assert.deepEqual(await purse(userId), { available: BALANCE - CHEAP, reserved: CHEAP });
      const [attempt] = await attempts(rentalId);
      assert.equal(attempt?.state, 'adopted');
      assert.equal((await getRental(lone.db, rentalId)).pod_id, `pod-${attempt.tag}`);
    });

    it('takes the machine that it had bought when it died after the call, and buys no other', async () => {
      const { rentalId, userId } = await ask();
      upstream.allocations.push(async (request) => {
        await upstream.sell(request);
        throw new Error('the worker died');
      });
      await assert.rejects(open(rentalId), /died/);
      assert.equal(await hasRow(rentalId), false);
      assert.deepEqual(await purse(userId), { available: BALANCE, reserved: 0 });

      await open(rentalId);
      assert.deepEqual(upstream.names, ['allocate', 'find'], 'it is found by its tag');
      const [attempt, ...others] = await attempts(rentalId);
      assert.deepEqual([attempt?.state, others.length], ['adopted', 0]);
      assert.deepEqual(await purse(userId), { available: BALANCE - CHEAP, reserved: CHEAP });
    });

    it('asks for the next machine when the cheapest one can’t be had, and holds what that one costs', async () => {
      const { rentalId, userId } = await ask();
      upstream.allocations.push(() => Promise.reject(new ProviderError('no_capacity', 'sold out')));
      assert.equal((await open(rentalId)).pricePerHourCents, DEAR);
      assert.deepEqual(upstream.asked, [
        ['allocate', 'cheap'],
        ['allocate', 'dear'],
      ]);
      const states = (await attempts(rentalId)).map(({ state, failed_by: failedBy }) => [state, failedBy]);
      assert.deepEqual(states, [
        ['failed', 'upstream'],
        ['adopted', null],
      ]);
      assert.deepEqual(await purse(userId), { available: BALANCE - DEAR, reserved: DEAR });
    });

    for (const kind of ['refused', 'rate_limited'] as const) {
      it(`does not blame an upstream for the machine when our request was ${kind} (decision 106)`, async () => {
        const { rentalId } = await ask();
        upstream.allocations.push(() => Promise.reject(new ProviderError(kind, 'not you')));
        await open(rentalId).catch(() => undefined);
        const [first] = await attempts(rentalId);
        assert.deepEqual([first?.state, first?.failed_by], ['failed', 'us']);
      });
    }

    it('gives a machine back that costs more than was agreed', async () => {
      const { rentalId } = await ask();
      upstream.allocations.push((request) => upstream.sell(request, CHEAP + 1));
      assert.equal((await open(rentalId)).pricePerHourCents, DEAR);
      const [first, second] = await attempts(rentalId);
      assert.deepEqual([first?.state, second?.state], ['condemned', 'adopted']);
      assert.deepEqual([first?.failed_by, second?.failed_by], ['upstream', null]);
      assert.deepEqual(upstream.asked[1], ['terminate', `pod-${first?.tag}`]);
    });

    it('opens one whose create had no known outcome, without a machine yet', async () => {
      const { rentalId } = await ask();
      upstream.allocations.push(async (request) => {
        await upstream.sell(request);
        const [tag] = upstream.pods.keys();
        const pod = upstream.pods.get(tag ?? '')!;
        upstream.pods.set(pod.tag, { ...pod, pricePerHourCents: null });
        throw new ProviderError('unknown', 'no answer', { podId: pod.podId });
      });
      await open(rentalId);
      assert.equal((await getRental(lone.db, rentalId)).pod_id, null);
      assert.equal((await attempts(rentalId))[0]?.state, 'open', 'it is looked for by its workflow');
      assert.equal((await lone.run('lookAtRental', rentalId)).phase, 'find_pod');
    }).timeout(30_000);

    type Refused = Asked & { type: string; details?: object; answerBefore?: string };
    const refusals: Record<string, () => Promise<Refused>> = {
      'of who can’t pay for an hour': async () => ({
        ...(await ask(CHEAP - 1)),
        ...{ type: 'insufficient_balance', details: { requiredCents: CHEAP, availableCents: CHEAP - 1 } },
      }),
      'that nobody has asked for': async () => ({
        ...(await ask()),
        rentalId: newId('rent'),
        type: 'temporarily_unavailable',
      }),
      'that comes too late': async () => ({
        ...(await ask()),
        answerBefore: '2020-01-01T00:00:00.000Z',
        type: 'temporarily_unavailable',
      }),
      'of which nothing is on offer': async () => ({
        ...(await ask(BALANCE, 'h100')),
        type: 'model_unavailable',
      }),
    };
    for (const [which, prepare] of Object.entries(refusals)) {
      it(`refuses one ${which}, holds nothing and buys nothing`, async () => {
        const { rentalId, userId, answerBefore, type, details } = await prepare();
        const before = await purse(userId);
        const refused = { name: 'ApplicationFailure', type, nonRetryable: true };
        const facts = details && { details: [details] };
        await assert.rejects(open(rentalId, answerBefore), { ...refused, ...facts });
        assert.deepEqual(upstream.asked, []);
        assert.equal(await hasRow(rentalId), false);
        assert.deepEqual(await purse(userId), before);
      });
    }
  });

  describe('lookAtRental', () => {
    it('finds nothing where there is no row', async () => {
      const look = await lone.run('lookAtRental', newId('rent'));
      assert.deepEqual(look, { phase: 'missing', facts: null, summary: 'no such rental' });
    });

    it('tells what comes next by its row, from its opening until it is closed', async () => {
      const { rentalId, userId } = await opened();
      const phase = async () => (await lone.run('lookAtRental', rentalId)).phase;
      assert.equal(await phase(), 'await_pod');
      await lone.run('giveUpProvisioning', rentalId, null);
      assert.equal(await phase(), 'end_pod');
      await lone.run('closeRental', rentalId);
      assert.equal(await phase(), 'closed');
      const running = await insertRunning(lone.db, await getWallet(lone.db, userId), {
        priceCents: CHEAP,
        ranMs: 1_000,
      });
      assert.equal((await lone.run('lookAtRental', running)).phase, 'running');
    });
  });

  describe('each step', () => {
    it('answers with a look at what it left, also when it runs again', async () => {
      const steps = ['startMetering', 'giveUpProvisioning', 'closeRental'] as const;
      const phases: string[] = [];
      const { rentalId } = await opened();
      for (const step of steps) {
        for (let time = 1; time <= 2; time += 1) {
          const look =
            step === 'giveUpProvisioning'
              ? await lone.run(step, rentalId, null)
              : await lone.run(step, rentalId);
          assert.deepEqual(look, await lone.run('lookAtRental', rentalId), step);
          phases.push(look.phase);
        }
      }
      assert.deepEqual(phases, ['await_pod', 'await_pod', 'end_pod', 'end_pod', 'closed', 'closed']);
      const wallet = await insertWallet(lone.db, BALANCE);
      const ran = await insertRunning(lone.db, wallet, { priceCents: 360, ranMs: 100_000 });
      assert.equal((await lone.run('meterRental', ran, 60_000)).look.phase, 'running');
      assert.equal((await lone.run('settleRental', ran)).phase, 'running');
      await requestStop(ran);
      assert.equal((await lone.run('meterRental', ran, 60_000)).look.phase, 'ended');
      assert.equal((await lone.run('settleRental', ran)).phase, 'end_pod');
    });
  });

  describe('startMetering', () => {
    async function answered(rentalId: RentalId): Promise<void> {
      const { no } = await getRental(lone.db, rentalId);
      await lone.db('answered_machines').insert({
        rental_no: no,
        host: '192.0.2.1',
        port: 22,
        username: 'root',
        host_key_fingerprint: null,
      });
    }

    it('begins billing where the machine answered, once', async () => {
      const { rentalId } = await opened();
      await answered(rentalId);
      await lone.run('startMetering', rentalId);
      const first = await getRental(lone.db, rentalId);
      assert.deepEqual([first.status, first.host], ['running', '192.0.2.1']);
      await lone.run('startMetering', rentalId);
      assert.deepEqual((await getRental(lone.db, rentalId)).running_at, first.running_at);
    });

    it('begins nothing while no machine has answered', async () => {
      const { rentalId } = await opened();
      await lone.run('startMetering', rentalId);
      assert.equal((await getRental(lone.db, rentalId)).status, 'provisioning');
    });

    it('ends one that was stopped first, charges nothing and frees its hold', async () => {
      const { rentalId, userId } = await opened();
      await answered(rentalId);
      await requestStop(rentalId);
      await lone.run('startMetering', rentalId);
      const { running_at, charged_cents, settled_at } = await getRental(lone.db, rentalId);
      assert.deepEqual([running_at, charged_cents, settled_at === null], [null, 0, false]);
      assert.deepEqual(await purse(userId), { available: BALANCE, reserved: 0 });
    });
  });

  describe('giveUpProvisioning', () => {
    for (const [why, error, status] of [
      ['a machine that failed', 'The upstream lost the machine.', 'failed'],
      ['a stop', null, 'stopping'],
    ] as const) {
      it(`frees the hold after ${why}, once`, async () => {
        const { rentalId, userId } = await opened();
        for (const time of ['first', 'second']) {
          await lone.run('giveUpProvisioning', rentalId, error);
          assert.deepEqual(await purse(userId), { available: BALANCE, reserved: 0 }, `the ${time} time`);
        }
        const row = await getRental(lone.db, rentalId);
        const keptCents = row.charged_cents - row.refunded_cents;
        assert.deepEqual([row.status, row.error, keptCents], [status, error, 0]);
      });
    }

    it('leaves one alone that runs', async () => {
      const wallet = await insertWallet(lone.db, BALANCE);
      const running = await insertRunning(lone.db, wallet, { priceCents: CHEAP, ranMs: 1_000 });
      await lone.run('giveUpProvisioning', running, 'too late');
      assert.equal((await getRental(lone.db, running)).status, 'running');
    });
  });

  describe('of one that has run', () => {
    async function ran(ms: number): Promise<{ rentalId: RentalId; userId: UserId }> {
      const wallet = await insertWallet(lone.db, BALANCE);
      const rentalId = await insertRunning(lone.db, wallet, { priceCents: 360, ranMs: ms });
      return { rentalId, userId: wallet.user_id };
    }

    it('meterRental ends it at its stop, and has nothing to do after that', async () => {
      const { rentalId } = await ran(100_000);
      assert.ok((await lone.run('meterRental', rentalId, 60_000)).nextLookMs > 0);
      await requestStop(rentalId);
      await lone.run('meterRental', rentalId, 60_000);
      const ended = await getRental(lone.db, rentalId);
      assert.notEqual(ended.ended_at, null);
      const again = await lone.run('meterRental', rentalId, 60_000);
      assert.deepEqual(again, { nextLookMs: 0, look: await lone.run('lookAtRental', rentalId) });
      assert.deepEqual(await getRental(lone.db, rentalId), ended);
    });

    it('settleRental makes its bill once, and none while it runs', async () => {
      const { rentalId, userId } = await ran(100_000);
      await lone.run('settleRental', rentalId);
      assert.equal((await getRental(lone.db, rentalId)).settled_at, null);
      await requestStop(rentalId);
      await lone.run('meterRental', rentalId, 60_000);
      await lone.run('settleRental', rentalId);
      const settled = await getRental(lone.db, rentalId);
      assert.deepEqual([settled.settled_at === null, settled.charged_cents], [false, 10]);
      assert.deepEqual(await purse(userId), { available: BALANCE - 10, reserved: 0 });
      await lone.run('settleRental', rentalId);
      assert.deepEqual(await getRental(lone.db, rentalId), settled);
      assert.deepEqual(await purse(userId), { available: BALANCE - 10, reserved: 0 });
    });

    it('closeRental closes it once it is settled, and no sooner or later', async () => {
      const { rentalId } = await ran(100_000);
      await lone.run('closeRental', rentalId);
      assert.equal((await getRental(lone.db, rentalId)).closed_at, null);
      await requestStop(rentalId);
      await lone.run('meterRental', rentalId, 60_000);
      await lone.run('settleRental', rentalId);
      await lone.run('closeRental', rentalId);
      const closed = await getRental(lone.db, rentalId);
      assert.deepEqual([closed.status, closed.closed_at === null], ['stopped', false]);
      await lone.run('closeRental', rentalId);
      assert.deepEqual(await getRental(lone.db, rentalId), closed);
    });
  });
});
