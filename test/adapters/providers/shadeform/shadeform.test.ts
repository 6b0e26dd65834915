import { ownSoftwareId } from '../../../../domain/rentals/software.js';
import { templates } from '../../../../domain/catalog/templates.js';
import assert from 'node:assert/strict';
import { createShadeformProvider } from '../../../../adapters/providers/shadeform/shadeform.js';
import { labOffers } from '../../../../lab/provider/offers.js';
import {
  API_KEY,
  login,
  newRenterKey,
  requestOf,
  startLivingLab,
  until,
  untilActive,
  type LivingLab,
} from '../../../lab/provider/living-lab.js';

describe('the Shadeform adapter against the living lab', () => {
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  after(() => lab.stop());
  afterEach(() => lab.clearFaults());

  const podsOf = async (tag: string) => (await lab.state()).pods.filter((pod) => pod.tags.includes(tag));
  const keysOf = async (tag: string) =>
    (await lab.state()).sshKeys.filter((key) => key.name.startsWith(`${tag}@`));

  describe('listOffers', () => {
    it('lists all 28 offers in 8 families, each under an id of its own', async () => {
      const offers = await lab.provider.listOffers();
      assert.equal(offers.length, 28);
      assert.equal(new Set(offers.map((offer) => offer.offerId)).size, 28);
      assert.deepEqual([...new Set(offers.map((offer) => offer.family))].sort(), [
        ...['a100-80gb', 'b200', 'h100-80gb', 'h200-141gb', 'l40s', 'rtx-4090', 'rtx-5090', 'rtx-6000-ada'],
      ]);
      assert.deepEqual([...new Set(offers.map((offer) => offer.gpuCount))].sort(), [1, 2, 4, 8]);
    });

    it('reads an offer as our own: model, VRAM per GPU, price of the whole machine, country', async () => {
      const offers = await lab.provider.listOffers();
      assert.deepEqual(
        offers.find((offer) => offer.offerId === 'lambda/H100_sxm5x8/us-south-2'),
        {
          offerId: 'lambda/H100_sxm5x8/us-south-2',
          model: 'H100_SXM_80GB',
          family: 'h100-80gb',
          vramGb: 80,
          gpuCount: 8,
          pricePerHourCents: 2392,
          region: 'US, North Texas',
          regionCode: 'US',
          interconnect: 'sxm5',
          maxBootMs: 60_000,
          machine: { vcpus: 64, memoryGb: 512, diskGb: 256 },
          templates: [...templates.map(({ id }) => id), ownSoftwareId],
        },
      );
    });

    it('finds the country of every region on offer', async () => {
      const offers = await lab.provider.listOffers();
      for (const offer of labOffers) {
        const read = offers.find((one) => one.offerId === `${offer.cloud}/${offer.type}/${offer.region}`);
        assert.equal(read?.regionCode, offer.label.slice(0, 2), offer.region);
      }
    });
  });

  describe('allocate', () => {
    it('buys a pod under its tag, which the renter’s key opens', async () => {
      const key = newRenterKey();
      const request = requestOf({ publicKeys: [key.line] });
      const bought = await lab.provider.allocate(request);
      assert.equal(bought.pricePerHourCents, 40);
      const pod = await untilActive(lab.provider, request.tag);
      assert.deepEqual(pod, {
        podId: bought.podId,
        tag: request.tag,
        status: 'active',
        upstreamStatus: 'active',
        host: '127.0.0.1',
        port: pod.port,
        username: 'shadeform',
        pricePerHourCents: 40,
      });
      const { code } = await login({ port: pod.port, user: 'shadeform', key, command: 'exit 9' });
      assert.equal(code, 9);
    });

    it('accepts a rental without any key', async () => {
      const request = requestOf();
      await lab.provider.allocate(request);
      await untilActive(lab.provider, request.tag);
    });

    it('registers a throw-away key under the tag, and sends no comment of the renter’s keys', async () => {
      const request = requestOf({ publicKeys: [newRenterKey().line] });
      await lab.provider.allocate(request);
      const [key] = await keysOf(request.tag);
      const [pod] = await podsOf(request.tag);
      assert.equal(pod?.sshKeyId, key?.id);
      assert.match(key!.publicKey, /^ssh-ed25519 AAAA\S+ test-rent-/);
      const script = Buffer.from(pod!.base64Script!, 'base64').toString();
      const encoded = [...script.matchAll(/printf %s '([^']+)'/g)].map((match) =>
        Buffer.from(match[1]!, 'base64'),
      );
      assert.doesNotMatch(script + encoded.join('\n'), /example\.org/);
    });

    it('asks for the operating system of the template when the offers were listed before', async () => {
      await lab.provider.listOffers();
      const request = requestOf();
      await lab.provider.allocate(request);
      assert.equal((await podsOf(request.tag))[0]?.os, 'ubuntu24.04_cuda12.8_shade_os');
    });
  });

  describe('find and listPods', () => {
    it('finds a pod from its creation on, and none under another tag', async () => {
      await lab.faults({ bootMs: 5_000 });
      const request = requestOf();
      const { podId } = await lab.provider.allocate(request);
      await lab.faults({ bootMs: 20 });
      const pod = await lab.provider.find(request.tag);
      assert.deepEqual([pod?.podId, pod?.status, pod?.host, pod?.port], [podId, 'pending', null, null]);
      assert.equal(await lab.provider.find(`${request.tag}0`), undefined);
    });

    it('lists the pods of this deployment only', async () => {
      const other = createShadeformProvider({
        code: 'lab',
        url: lab.url(),
        apiKey: API_KEY,
        deployment: 'other',
      });
      await lab.call('POST', '/v1/instances/create', {
        ...{
          cloud: 'vast',
          shade_instance_type: 'RTX4090',
          region: 'texas-usa-1',
          shade_cloud: true,
          name: 'by hand',
        },
      });
      const mine = requestOf();
      const theirs = requestOf({ tag: `other-${mine.tag}` });
      await lab.provider.allocate(mine);
      await other.allocate(theirs);
      const tags = (await lab.provider.listPods()).map((pod) => pod.tag);
      assert.ok(tags.includes(mine.tag));
      assert.ok(tags.every((tag) => tag.startsWith('test-')));
      assert.deepEqual(
        (await other.listPods()).map((pod) => pod.tag),
        [theirs.tag],
      );
    });

    it('shows a pod that never boots as pending', async () => {
      await lab.faults({ bootNever: 1 });
      const request = requestOf();
      await lab.provider.allocate(request);
      await new Promise((resolve) => setTimeout(resolve, 60));
      assert.equal((await lab.provider.find(request.tag))?.status, 'pending');
    });

    it('shows a crashed pod as lost, and a vanished one not at all', async () => {
      const [crashed, vanished] = [requestOf(), requestOf()];
      for (const request of [crashed, vanished]) {
        await lab.provider.allocate(request);
        const pod = await untilActive(lab.provider, request.tag);
        await lab.crash(pod.podId, request === crashed ? 'error' : 'vanish');
      }
      const pod = await lab.provider.find(crashed.tag);
      assert.deepEqual([pod?.status, pod?.upstreamStatus], ['lost', 'error']);
      assert.equal(await lab.provider.find(vanished.tag), undefined);
    });
  });

  describe('terminate', () => {
    it('ends a pod, removes its key, and may be repeated', async () => {
      const request = requestOf();
      const { podId } = await lab.provider.allocate(request);
      await untilActive(lab.provider, request.tag);
      for (let attempt = 1; attempt <= 3; attempt += 1) await lab.provider.terminate(podId);
      await until('the pod to be gone', async () =>
        (await lab.provider.find(request.tag)) ? undefined : true,
      );
      await lab.provider.terminate(podId);
      await until('the key to be removed', async () =>
        (await keysOf(request.tag)).length === 0 ? true : undefined,
      );
    });

    it('shows a pod as ending until the upstream has ended it', async () => {
      await lab.faults({ deleteMs: 60_000 });
      const request = requestOf();
      const { podId } = await lab.provider.allocate(request);
      await lab.provider.terminate(podId);
      await lab.faults({ deleteMs: 20 });
      assert.equal((await lab.provider.find(request.tag))?.status, 'ending');
    });

    it('takes a pod that never was for ended', async () => {
      await lab.provider.terminate('d290f1ee-6c54-4b01-90e6-d701748f0851');
    });
  });
});
