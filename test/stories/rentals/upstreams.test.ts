import assert from 'node:assert/strict';
import { renewEnds } from '../../../activities/machines/renew-ends.js';
import { ProviderError, type Provider } from '../../../adapters/providers/provider.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { credit } from '../../support/money/money.js';
import { netCents, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';
import { login, newRenterKey } from '../../lab/provider/living-lab.js';

/** One GPU that both upstreams of the lab sell: 40 and 69 cents at one, 69 at the other. */
const machine = { familyId: 'rtx-4090', gpuCount: 1 };

for (const [dialect, loss] of [
  ['shadeform', 'error'],
  ['runpod', 'preempted'],
  ['vast', 'error'],
] as const) {
  describe(`a rental at an upstream that speaks ${dialect}’s dialect`, () => {
    let service: TestService;
    let renting: Renting;
    let user: SignedIn;
    before(async () => {
      service = await startService({ dialects: [dialect] });
      renting = new Renting(service);
    });
    beforeEach(async () => {
      user = await service.signIn(10_000);
    });
    afterEach(() => service.gpus.clearFaults());
    after(() => service.stop());

    it('is created, entered with each of two keys, and stopped: its machine is gone', async () => {
      const keys = [newRenterKey(), newRenterKey('rsa')];
      for (const [index, key] of keys.entries()) {
        const { status } = await user.post('/v1/ssh-keys', { name: `key ${index}`, publicKey: key.line });
        assert.ok(status < 300);
      }
      const { id, port, username, host_key_fingerprint } = await renting.run(user, machine);
      assert.match(host_key_fingerprint ?? '', /^SHA256:/);
      for (const key of keys) {
        const entered = await login({ port: port!, user: username!, key, command: 'echo in; nvidia-smi -L' });
        assert.match(entered.stdout, /^in\nGPU 0: NVIDIA GeForce RTX 4090/);
      }
      const stranger = await login({ port: port!, user: username!, key: newRenterKey(), command: 'true' });
      assert.notEqual(stranger.code, 0);
      await renting.stop(user, id);
      await renting.awaitClosed(id);
      const pods = await renting.pods(id);
      assert.deepEqual(
        pods.map(({ status }) => status),
        ['deleted'],
      );
      await renting.assertAddsUp(user.user.id);
    });

    it(`that is lost in its first minute (${loss}) is given back`, async () => {
      const { id } = await renting.run(user, machine);
      const [pod] = await renting.pods(id);
      await service.gpus.crash(pod!.id, loss);
      const failed = await renting.awaitStatus(id, 'failed');
      assert.equal(netCents(failed), 0);
      await renting.awaitClosed(id);
      assert.equal((await renting.wallet(user)).available_cents, 10_000);
    });

    it('whose first machine was sold to somebody else meanwhile fails with everything given back', async () => {
      await service.gpus.faults({ soldTwice: 1 });
      const failed = await renting.awaitStatus(await renting.open(user, machine), 'failed');
      assert.match(failed.error ?? '', /lost the machine/);
      await renting.awaitClosed(failed.id);
      assert.equal((await renting.wallet(user)).available_cents, 10_000);
    });

    if (dialect === 'vast') {
      it('ends ten minutes before the contract of its machine, whatever is asked for', async () => {
        // The lab's offers end thirty days after each list, so that their ends move while a machine starts.
        const offeredUntil = async (): Promise<number> => {
          const { body } = await user.get('/v1/catalog/listings?familyId=rtx-4090');
          const [listing] = body.listings as unknown as { availableUntil: string }[];
          return Date.parse(listing?.availableUntil ?? '');
        };
        const before = await offeredUntil();
        const { id, auto_stop_at: bound } = await renting.run(user, machine);
        const after = await offeredUntil();
        const daysLeft = (bound?.getTime() ?? 0) - Date.now();
        assert.ok(Math.abs(daysLeft / 86_400_000 - 30) < 0.1, `${bound?.toISOString()}`);
        const stopsAt = (answer: { body: object }) => (answer.body as { autoStopAt?: string }).autoStopAt;
        assert.equal(stopsAt(await user.get(`/v1/rentals/${id}`)), bound?.toISOString());
        const contractEnd = bound!.getTime() + 600_000;
        assert.ok(contractEnd >= before && contractEnd <= after, `${before}, ${contractEnd}, ${after}`);
        const change = (autoStopAt: string | null) => user.patch(`/v1/rentals/${id}`, { autoStopAt });
        assert.equal(stopsAt(await change(null)), bound?.toISOString());
        const sooner = new Date(Date.now() + 3_600_000).toISOString();
        assert.equal(stopsAt(await change(sooner)), sooner);
      });
    }

    it('waits while another machine of ours answers at the address that it was given', async () => {
      const first = await renting.run(user, machine);
      await service.gpus.faults({ reuseAddress: { times: 1, forMs: 1_500 } });
      const second = await renting.run(user, machine, { maxPricePerHourCents: 100 });
      assert.notEqual(second.port, first.port);
      assert.notEqual(second.host_key_fingerprint, first.host_key_fingerprint);
    });
  });
}

describe('a rental with several upstreams', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;
  /** The answer of each upstream to a create, where it is not the lab's. */
  const creates = new Map<string, () => ProviderError>();
  const withFailingCreates = (provider: Provider): Provider => ({
    ...provider,
    allocate(request) {
      const failure = creates.get(provider.code);
      return failure ? Promise.reject(failure()) : provider.allocate(request);
    },
  });
  before(async () => {
    service = await startService({
      dialects: ['shadeform', 'runpod'],
      wrapProvider: withFailingCreates,
    });
    renting = new Renting(service);
    await until('both catalogs are read', async () => {
      const rows = await service.db('listings').distinct('provider_code');
      return rows.length === 2;
    });
  });
  beforeEach(async () => {
    user = await service.signIn(10_000);
    creates.clear();
    await service.db('providers').update({ out_until: null, out_reason: null, create_failures: 0 });
  });
  after(() => service.stop());

  const attemptsOf = async (id: string) =>
    (
      await service
        .db('allocation_attempts')
        .where({ rental_id: id as never })
        .orderBy('attempt')
    ).map((row) => [row.provider_code, row.price_per_hour_cents, row.state]);

  it('goes to the next cheapest of any when one has no capacity, and operators see each try', async () => {
    creates.set('lab', () => new ProviderError('no_capacity', 'sold out'));
    const { id } = await renting.run(user, machine, { maxPricePerHourCents: 100 });
    const attempts = await attemptsOf(id);
    assert.deepEqual(attempts[0], ['lab', 40, 'failed']);
    assert.deepEqual(attempts.at(-1), ['lab-runpod', 69, 'adopted']);
    assert.equal((await renting.row(id)).provider_code, 'lab-runpod');
  });

  it('pays for the disk that one adds to its price, and charges the renter what was agreed', async () => {
    creates.set('lab', () => new ProviderError('no_capacity', 'sold out'));
    await service.gpus.faults({ diskInPrice: true });
    const { id, price_per_hour_cents, pod_id } = await renting.run(user, machine, {
      maxPricePerHourCents: 100,
    });
    await service.gpus.clearFaults();
    assert.equal(price_per_hour_cents, 69);
    const pod = await service.db('pods').where({ pod_id: pod_id! }).first();
    assert.deepEqual(
      [pod?.price_per_hour_cents, (await attemptsOf(id)).at(-1)],
      [70, ['lab-runpod', 69, 'adopted']],
    );
  });

  it('goes to another when the cheapest can’t start the template, and gives each machine its own time', async () => {
    await service
      .db('listings')
      .where({ provider_code: 'lab', family: 'rtx-4090', gpu_count: 1 })
      .update({ template_ids: ['vllm'] });
    const { id } = await renting.run(user, machine, { maxPricePerHourCents: 100 });
    assert.deepEqual((await attemptsOf(id)).at(-1), ['lab-runpod', 69, 'adopted']);
    await service.db('listings').update({ template_ids: null, max_boot_ms: 25 * 60_000 });
    const slow = await renting.run(user, machine, { maxPricePerHourCents: 100 });
    const deadlines = await service
      .db('allocation_attempts')
      .whereIn('rental_id', [id, slow.id])
      .where({ state: 'adopted' })
      .orderBy('id');
    assert.deepEqual(
      deadlines.map(({ deadline_ms }) => deadline_ms),
      [20 * 60_000, 50 * 60_000],
    );
  });

  it('asks only those that can start the template', async () => {
    creates.set('lab', () => new ProviderError('no_capacity', 'sold out'));
    const refused = await user.post('/v1/rentals', {
      ...machine,
      templateId: 'vllm',
      maxPricePerHourCents: 100,
    });
    assert.deepEqual([refused.status, refused.body.error], [400, 'model_unavailable']);
  });

  it('has a date at which the upstream ends its machine by itself, and money moves it', async () => {
    const { id } = await renting.run(user, machine);
    const hoursLeft = async (): Promise<number> => {
      const [pod] = await renting.pods(id);
      return ((pod?.endByMs ?? 0) - Date.now()) / 3_600_000;
    };
    // 10,000 cents at 40 an hour, and an hour more.
    assert.ok(Math.abs((await hoursLeft()) - 251) < 1, `${await hoursLeft()} hours`);
    await credit(service.db, user.user.id, 10_000);
    await renewEnds({ db: service.db, log: service.api.deps.log }, service.gpus.provider);
    assert.ok(Math.abs((await hoursLeft()) - 501) < 1, `${await hoursLeft()} hours`);
  });
});
