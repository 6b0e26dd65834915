import assert from 'node:assert/strict';
import { createRunpodProvider } from '../../../../adapters/providers/runpod/runpod.js';
import type { Provider, ProviderError, ProviderErrorKind } from '../../../../adapters/providers/provider.js';
import { findFreePorts } from '../../../../lab/stack/ports.js';
import { runpodLabOffers } from '../../../../lab/provider/offers.js';
import {
  API_KEY,
  login,
  newRenterKey,
  requestOf,
  runpodRequestOf,
  startLivingLab,
  until,
  untilActive,
  type LivingLab,
  type RenterKey,
} from '../../../lab/provider/living-lab.js';
import { isOfKind } from '../upstream/scripted-upstream.js';

describe('the RunPod adapter against the living lab', () => {
  let lab: LivingLab;
  let provider: Provider;
  before(async () => {
    lab = await startLivingLab();
    provider = lab.runpod;
  });
  after(() => lab.stop());
  afterEach(() => lab.clearFaults());

  const podsOf = async (tag: string) => (await lab.state()).pods.filter((pod) => pod.name === tag);
  const untilGone = (tag: string) =>
    until('the pod to be gone', async () => ((await provider.find(tag)) ? undefined : true));
  const codeOf = async (port: number, key: RenterKey, user = 'root') =>
    (await login({ port, user, key, command: 'exit 9' })).code;

  describe('listOffers', () => {
    it('lists what the lab sells, each under an id of its own and at its price', async () => {
      const offers = await provider.listOffers();
      assert.deepEqual(
        offers.map(({ region, gpuCount, pricePerHourCents }) => [region, gpuCount, pricePerHourCents]).sort(),
        runpodLabOffers.map(({ label, gpuCount, priceCents }) => [label, gpuCount, priceCents]).sort(),
      );
      assert.equal(new Set(offers.map((offer) => offer.offerId)).size, runpodLabOffers.length);
      assert.deepEqual([...new Set(offers.map((offer) => offer.gpuCount))].sort(), [1, 8]);
    });

    it('sells each of them', async () => {
      for (const { offerId, gpuCount, pricePerHourCents } of await provider.listOffers()) {
        const request = runpodRequestOf({ offerId, gpuCount });
        const bought = await provider.allocate(request);
        assert.equal(bought.pricePerHourCents, pricePerHourCents, offerId);
        await provider.terminate(bought.podId);
      }
    });
  });

  describe('a rental', () => {
    it('is created, opened by each of two keys and by no other, and ended until it is gone', async () => {
      const [one, two, stranger] = [newRenterKey(), newRenterKey('rsa'), newRenterKey()];
      const request = runpodRequestOf({ publicKeys: [one.line, two.line] });
      const bought = await provider.allocate(request);
      assert.equal(bought.pricePerHourCents, 69);
      const pod = await untilActive(provider, request.tag);
      assert.deepEqual(pod, {
        podId: bought.podId,
        tag: request.tag,
        status: 'active',
        upstreamStatus: 'RUNNING',
        host: '127.0.0.1',
        port: pod.port,
        username: 'root',
        pricePerHourCents: 69,
        ports: [],
        use: pod.use,
        startedAt: pod.startedAt,
      });
      assert.deepEqual(
        [await codeOf(pod.port, one), await codeOf(pod.port, two), await codeOf(pod.port, stranger)],
        [9, 9, 255],
      );
      assert.equal(await codeOf(pod.port, one, 'shadeform'), 255);
      for (let attempt = 1; attempt <= 3; attempt += 1) await provider.terminate(pod.podId);
      await untilGone(request.tag);
      await provider.terminate(pod.podId);
      assert.equal(await codeOf(pod.port, one), 255);
    });

    it('keeps two renters’ keys apart', async () => {
      const [mine, theirs] = [newRenterKey(), newRenterKey()];
      const requests = [mine, theirs].map((key) => runpodRequestOf({ publicKeys: [key.line] }));
      for (const request of requests) await provider.allocate(request);
      const [my, their] = await Promise.all(requests.map(({ tag }) => untilActive(provider, tag)));
      assert.deepEqual([await codeOf(my!.port, mine), await codeOf(my!.port, theirs)], [9, 255]);
      assert.deepEqual([await codeOf(their!.port, theirs), await codeOf(their!.port, mine)], [9, 255]);
      const registered = (await lab.state()).sshKeys.map(({ name }) => name.split('@')[0]);
      assert.ok(
        !requests.some(({ tag }) => registered.includes(tag)),
        'nothing is registered with the account',
      );
    });

    it('shows the rented GPUs', async () => {
      const key = newRenterKey();
      const offerId = 'SECURE/NVIDIA A100-SXM4-80GB/8/EU-NL-1';
      const request = runpodRequestOf({ offerId, publicKeys: [key.line] });
      await provider.allocate(request);
      const { port } = await untilActive(provider, request.tag);
      const { stdout } = await login({ port, user: 'root', key, command: 'nvidia-smi -L' });
      assert.equal(stdout.match(/^GPU \d: NVIDIA A100-SXM4-80GB/gm)?.length, 8);
    });

    it('accepts a renter without any key: the pod runs, with a key that nobody has', async () => {
      const request = runpodRequestOf();
      await provider.allocate(request);
      await untilActive(provider, request.tag);
      assert.match((await podsOf(request.tag))[0]?.publicKey ?? '', /^ssh-ed25519 AAAA\S+$/);
    });

    it('has no address until it is up, and is found from its creation on', async () => {
      await lab.faults({ bootMs: 5_000 });
      const request = runpodRequestOf();
      const { podId } = await provider.allocate(request);
      await lab.faults({ bootMs: 20 });
      const pod = await provider.find(request.tag);
      assert.deepEqual([pod?.podId, pod?.status, pod?.host, pod?.port], [podId, 'pending', null, null]);
      assert.equal(await provider.find(`${request.tag}0`), undefined);
    });

    it('is lost when it crashes, and not listed when it vanishes', async () => {
      const [crashed, vanished] = [runpodRequestOf(), runpodRequestOf()];
      for (const request of [crashed, vanished]) {
        await provider.allocate(request);
        const pod = await untilActive(provider, request.tag);
        await lab.crash(pod.podId, request === crashed ? 'error' : 'vanish');
      }
      const pod = await provider.find(crashed.tag);
      assert.deepEqual([pod?.status, pod?.upstreamStatus, pod?.host], ['lost', 'ERROR', null]);
      assert.equal(await provider.find(vanished.tag), undefined);
    });
  });

  it('lists the pods of this deployment and this dialect only', async () => {
    const options = { code: 'lab-runpod', url: lab.url(), apiKey: API_KEY };
    const other = createRunpodProvider({ ...options, deployment: 'other' });
    const [mine, theirs, elsewhere] = [
      runpodRequestOf(),
      runpodRequestOf({ tag: 'other-rent-1' }),
      requestOf(),
    ];
    await provider.allocate(mine);
    await other.allocate(theirs);
    const shadeforms = await lab.provider.allocate(elsewhere);
    const tags = (await provider.listPods()).map((pod) => pod.tag);
    assert.ok(tags.includes(mine.tag) && tags.every((tag) => tag.startsWith('test-')));
    assert.ok(!tags.includes(elsewhere.tag));
    assert.deepEqual(
      (await other.listPods()).map((pod) => pod.tag),
      [theirs.tag],
    );
    assert.equal(await lab.provider.find(mine.tag), undefined);
    await provider.terminate(shadeforms.podId);
    assert.notEqual((await lab.provider.find(elsewhere.tag))?.status, 'ending');
  });

  describe('with the lab’s faults', () => {
    const refusals: [string, () => Promise<unknown>, ProviderErrorKind][] = [
      ['no capacity', () => lab.faults({ noCapacity: 1 }), 'no_capacity'],
      ['no capacity of this type', () => lab.faults({ noCapacity: { types: ['RTX4090'] } }), 'no_capacity'],
      ['a rate limit', () => lab.faults({ rateLimitCreate: 1 }), 'rate_limited'],
    ];
    for (const [what, setFault, kind] of refusals) {
      it(`tells ${kind} for ${what}; nothing is bought`, async () => {
        await setFault();
        const request = runpodRequestOf();
        await assert.rejects(provider.allocate(request), (error) => isOfKind(error, kind));
        assert.deepEqual(await podsOf(request.tag), []);
      });
    }

    for (const [retryAfterSeconds, retryAfterMs] of [
      [7, 7_000],
      [null, 12_000],
    ] as const) {
      it(`passes on how long to wait, Retry-After ${String(retryAfterSeconds)}`, async () => {
        const told = retryAfterSeconds === null ? {} : { retryAfterSeconds };
        await lab.faults({ rateLimitCreate: { times: 1, ...told } });
        await assert.rejects(provider.allocate(runpodRequestOf()), (error: ProviderError) => {
          assert.equal(error.details.retryAfterMs, retryAfterMs);
          return true;
        });
      });
    }

    it('tells no_capacity for what the lab does not sell', async () => {
      for (const offerId of ['SECURE/NVIDIA L4/1/EU-RO-1', 'SECURE/NVIDIA GeForce RTX 4090/8/EU-RO-1']) {
        await assert.rejects(provider.allocate(runpodRequestOf({ offerId })), (error) =>
          isOfKind(error, 'no_capacity'),
        );
      }
    });

    it('tells the price that the pod really costs', async () => {
      await lab.faults({ priceChange: { times: 1, percent: 50 } });
      assert.equal((await provider.allocate(runpodRequestOf())).pricePerHourCents, 104);
    });

    it('tells unknown for a lost answer; the pod is found by its name, and can be ended', async () => {
      await lab.faults({ loseCreateAnswer: 1 });
      const request = runpodRequestOf();
      const options = { code: 'lab-runpod', url: lab.url(), apiKey: API_KEY, deployment: 'test' };
      const hasty = createRunpodProvider({ ...options, timeoutMs: 500 });
      await assert.rejects(hasty.allocate(request), (error) => isOfKind(error, 'unknown'));
      const pod = await provider.find(request.tag);
      await provider.terminate(pod!.podId);
      await untilGone(request.tag);
    });

    it('tells unknown for a 500 after the pod was made; it is found by its name', async () => {
      await lab.faults({ failCreateAfterMake: 1 });
      const request = runpodRequestOf();
      await assert.rejects(provider.allocate(request), (error) => isOfKind(error, 'unknown'));
      assert.equal((await provider.find(request.tag))?.pricePerHourCents, 69);
    });

    it('tells unknown while ending fails, and ends the pod when it is asked again', async () => {
      const request = runpodRequestOf();
      const { podId } = await provider.allocate(request);
      await lab.faults({ failDelete: 2 });
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        await assert.rejects(provider.terminate(podId), (error) => isOfKind(error, 'unknown'));
      }
      await provider.terminate(podId);
      await untilGone(request.tag);
    });

    it('tells refused for a wrong key, and when nobody listens', async () => {
      const options = { code: 'lab-runpod', deployment: 'test' };
      const wrong = createRunpodProvider({ ...options, url: lab.url(), apiKey: 'wrong' });
      const [port = 0] = await findFreePorts(1);
      const nowhere = createRunpodProvider({ ...options, url: `http://127.0.0.1:${port}`, apiKey: 'k' });
      for (const failing of [wrong, nowhere]) {
        await assert.rejects(failing.allocate(runpodRequestOf()), (error) => isOfKind(error, 'refused'));
      }
      await assert.rejects(wrong.listOffers(), (error) => isOfKind(error, 'refused'));
      await assert.rejects(nowhere.listPods(), (error) => isOfKind(error, 'unknown'));
    });
  });
});
