import assert from 'node:assert/strict';
import { machineTokenOf } from '../../../adapters/machine-bundles.js';
import { claimUntoldNotices } from '../../../adapters/postgres/operators/operator-notices.js';
import type { Dialect } from '../../../adapters/providers/offers/gpu-models.js';
import type { RentalId } from '../../../domain/ids.js';
import { claimLimits } from '../../../domain/machines/claims.js';
import { machineLimits } from '../../../domain/machines/limits.js';
import type { GpuFault } from '../../../lab/provider/faults.js';
import { creditTopup } from '../../../money/payments/credit.js';
import { unnamedSeller } from '../../../domain/payments/receipt.js';
import { paymentOf } from '../../support/activities/scripted-processor.js';
import type { SignedIn } from '../../support/http/api.js';
import { insertTopup } from '../../support/money/factories.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { b200, netCents, priceOf, Renting, rtx4090 } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

const BAD = 'gpu-proof 1 0\nTesla T4, 15360 MiB, 0, 570.133.20, [N/A]\n';
const h100 = { familyId: 'h100-80gb', gpuCount: 1 };

/** A service whose machines are of these upstreams, and tell how their GPUs are. */
function serviceAt(...dialects: Dialect[]) {
  const of = {} as { service: TestService; renting: Renting; user: SignedIn };
  before(async () => {
    of.service = await startService({ dialects, listener: true, bootMs: 50 });
    of.renting = new Renting(of.service);
    await until('the upstream has told what it sells', async () => {
      const synced = await of.service.db('providers').whereNotNull('catalog_synced_at');
      return synced.length === dialects.length;
    });
  });
  beforeEach(async () => {
    of.user = await of.service.signIn(100_000);
  });
  afterEach(async () => {
    await of.service.gpus.clearFaults();
    await of.renting.assertAddsUp();
  });
  after(() => of.service.stop());
  return of;
}

const findingOf = ({ db }: TestService, id: RentalId) => db('bad_machines').where({ rental_id: id }).first();
const reportsOf = ({ db }: TestService, id: RentalId) =>
  db('machine_reports as m')
    .join('allocation_attempts as a', 'a.id', 'm.attempt_id')
    .where('a.rental_id', id)
    .pluck<string[]>('m.body');

for (const [dialect, machine, faults] of [
  ['shadeform', b200, ['wrong_model', 'missing_gpu', 'ecc', 'wedged', 'lost', 'none']],
  ['lambda', h100, ['wrong_model']],
] as const) {
  describe(`a machine that is not what was rented, at ${dialect}`, () => {
    const of = serviceAt(dialect);

    for (const kind of faults satisfies readonly GpuFault[]) {
      it(`costs nothing and is ended: ${kind}`, async () => {
        const { service, renting, user } = of;
        await service.gpus.faults({ badGpu: { times: 1, kind } });
        const id = await renting.open(user, machine);
        const row = await renting.awaitClosed(id);
        assert.deepEqual([row.status, row.running_at, netCents(row)], ['failed', null, 0]);
        assert.match(row.error ?? '', /^The machine is not what you rented\./);
        assert.deepEqual(await service.db('answered_machines'), []);
        const finding = await findingOf(service, id);
        assert.deepEqual([finding?.outcome, finding?.confirmed], ['not_billed', true]);
        const [pod] = await renting.pods(id);
        assert.equal(pod?.status, 'deleted');
        const shown = (await user.get(`/v1/rentals/${id}`)).body;
        assert.equal(shown.status, 'failed');
      });
    }

    it('runs, where it is as rented, and says so', async () => {
      const { service, renting, user } = of;
      const { id } = await renting.run(user, machine);
      assert.match((await reportsOf(service, id))[0] ?? '', /^gpu-proof 1 0\nNVIDIA /);
      await until('it was judged', () =>
        service.db('machine_reports').where({ verdict: 'ok' }).first('no').then(Boolean),
      );
      await renting.stop(user, id);
      assert.equal(await findingOf(service, id), undefined);
    });

    // What follows is the same at each.
    if (dialect !== 'shadeform') return;

    it('runs all the same, where its driver hangs and tells nothing', async () => {
      const { service, renting, user } = of;
      await service.gpus.faults({ badGpu: { times: 1, kind: 'hangs' } });
      const { id } = await renting.run(user, rtx4090);
      await until('its wait is over', async () => (await reportsOf(service, id)).length > 0);
      assert.deepEqual(await reportsOf(service, id), ['gpu-proof 1 timeout\n']);
      await renting.stop(user, id);
    });

    it('runs at once, where nobody hears it', async () => {
      const { service, renting, user } = of;
      await service.listener?.stop();
      const { id, running_at: runningAt } = await renting.run(user, rtx4090);
      const pod = await service.db('pods').whereLike('tag', `%${id}%`).first();
      const waitedMs = (runningAt?.getTime() ?? Infinity) - (pod?.active_at?.getTime() ?? 0);
      assert.ok(waitedMs < machineLimits.proofWaitMs, `${waitedMs} ms`);
      assert.deepEqual(await reportsOf(service, id), []);
      await renting.stop(user, id);
    });
  });
}

describe('a machine that is not what was rented, where another upstream sells one at the same price', () => {
  const of = serviceAt('vast', 'shadeform');

  it('is left at no cost, and the rental runs on the next one', async () => {
    const { service, renting, user } = of;
    await service.gpus.faults({ badGpu: { times: 1, kind: 'wrong_model' } });
    const { id } = await renting.run(user, rtx4090);
    const [bad, next, ...more] = await service
      .db('allocation_attempts')
      .where({ rental_id: id })
      .orderBy('attempt');
    assert.deepEqual([bad?.state, next?.state, more], ['condemned', 'adopted', []]);
    assert.notEqual(bad?.provider_code, next?.provider_code);
    assert.equal((await findingOf(service, id))?.outcome, 'not_billed');
    const shown = (await user.get(`/v1/rentals/${id}`)).body;
    assert.equal(shown.pricePerHourCents, rtx4090.pricePerHourCents);
    assert.equal(shown.status, 'running');
    await renting.stop(user, id);
    const row = await renting.awaitClosed(id);
    assert.equal(netCents(row), priceOf(row));
    assert.deepEqual(
      (await renting.pods(id)).map(({ status }) => status),
      ['deleted', 'deleted'],
    );
  });

  it('fails at no cost where the next one is bad as well, and no other is left', async () => {
    const { service, renting, user } = of;
    await service.gpus.faults({ badGpu: { times: 9, kind: 'wrong_model' } });
    const row = await renting.awaitClosed(await renting.open(user, rtx4090));
    assert.deepEqual([row.status, row.running_at, netCents(row)], ['failed', null, 0]);
    assert.match(row.error ?? '', /^The machine is not what you rented\./);
    assert.equal((await service.db('bad_machines').where({ rental_id: row.id })).length, 2);
    assert.deepEqual(
      (await renting.pods(row.id)).map(({ status }) => status),
      ['deleted', 'deleted'],
    );
  });
});

describe('a container that calls itself bad', () => {
  const of = serviceAt('vast');

  /** Says so by the machine's own token, which its renter can read there. */
  async function claim(id: RentalId): Promise<number> {
    const { service } = of;
    const { settings } = await service.activityDeps();
    const [attempt] = await service.db('allocation_attempts').where({ rental_id: id });
    const token = machineTokenOf(settings.installationKey ?? '', 'report', attempt?.tag ?? '');
    const answer = await fetch(`${service.listener?.url}/v1/machine/reports`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${token}` }, body: BAD },
    });
    return answer.status;
  }

  /** What was found before counts no more. */
  const forget = () =>
    of.service.db('bad_machines').update({ found_at: new Date(Date.now() - 2 * claimLimits.othersMs) });

  const noticesOf = async () => (await claimUntoldNotices(of.service.db, null)).map(({ subject }) => subject);

  it('costs nothing before it is ready', async () => {
    const { service, renting, user } = of;
    await service.gpus.faults({ badGpu: { times: 1, kind: 'wrong_model' } });
    const row = await renting.awaitClosed(await renting.open(user, rtx4090));
    assert.deepEqual([row.status, row.running_at, netCents(row)], ['failed', null, 0]);
  });

  it('is ended by its renter’s lie, who pays until then, and operators look at it', async () => {
    const { service, renting, user } = of;
    await forget();
    await pay(user);
    const { id } = await renting.run(user, rtx4090);
    await renting.age(id, 120);
    await noticesOf();
    assert.equal(await claim(id), 204);
    const row = await renting.awaitClosed(id);
    assert.deepEqual([row.status, row.stop_reason], ['stopped', 'pod_lost']);
    assert.match(row.error ?? '', /^The machine says that it is not what you rented\./);
    assert.ok(netCents(row) > 0);
    assert.equal(netCents(row), priceOf(row));
    assert.equal((await findingOf(service, id))?.outcome, 'billed');
    assert.deepEqual(await noticesOf(), [`A machine at lab-vast says it is bad: ${id}`]);
    const [pod] = await renting.pods(id);
    assert.equal(pod?.status, 'deleted');
    // The machine is gone, and so is its word.
    assert.equal(await claim(id), 401);
  });

  it('is given back where another user said so of the same machine before', async () => {
    const { service, renting, user } = of;
    await pay(user);
    const { id } = await renting.run(user, rtx4090);
    await noticesOf();
    assert.equal(await claim(id), 204);
    const row = await renting.awaitClosed(id);
    assert.deepEqual([row.status, netCents(row)], ['failed', 0]);
    assert.equal((await findingOf(service, id))?.outcome, 'refunded');
    assert.deepEqual(await noticesOf(), []);
  });

  it('is given back where the upstream’s list shows another model', async () => {
    const { service, renting, user } = of;
    await forget();
    await pay(user);
    // Its own word would come before it is ready.
    await service.gpus.faults({ badGpu: { times: 1, kind: 'hangs', listed: true } });
    const { id } = await renting.run(user, rtx4090);
    assert.equal(await claim(id), 204);
    const row = await renting.awaitClosed(id);
    assert.deepEqual([row.status, netCents(row)], ['failed', 0]);
    const finding = await findingOf(service, id);
    assert.deepEqual([finding?.outcome, finding?.confirmed], ['refunded', true]);
  });

  it('is not given back to who never paid', async () => {
    const { service, renting, user } = of;
    await service.gpus.faults({ badGpu: { times: 1, kind: 'hangs', listed: true } });
    const { id } = await renting.run(user, rtx4090);
    assert.equal(await claim(id), 204);
    const row = await renting.awaitClosed(id);
    assert.equal(row.status, 'stopped');
    assert.equal(netCents(row), priceOf(row));
    assert.equal((await findingOf(service, id))?.outcome, 'billed');
  });

  async function pay({ user: { id: userId } }: SignedIn): Promise<void> {
    const { db } = of.service;
    const { id: topupId, amount_cents: amountCents } = await insertTopup(db, userId);
    await creditTopup(db, topupId, paymentOf({ topupId, userId, amountCents }), unnamedSeller);
  }
});
