import assert from 'node:assert/strict';
import type { ProviderError, ProviderErrorKind } from '../../../../adapters/providers/provider.js';
import { createShadeformProvider } from '../../../../adapters/providers/shadeform/shadeform.js';
import {
  API_KEY,
  newRenterKey,
  requestOf,
  startLivingLab,
  until,
  type LivingLab,
} from '../../../lab/provider/living-lab.js';
import { isOfKind } from '../upstream/scripted-upstream.js';

describe('the Shadeform adapter against the lab’s faults', () => {
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  after(() => lab.stop());
  afterEach(() => lab.clearFaults());

  const idsOf = async () => {
    const { pods, sshKeys } = await lab.state();
    return [...pods, ...sshKeys].map(({ id }) => id);
  };
  const podsOf = async (tag: string) => (await lab.state()).pods.filter((pod) => pod.tags.includes(tag));
  const keysOf = async (tag: string) =>
    (await lab.state()).sshKeys.filter((key) => key.name.startsWith(`${tag}@`));

  it('tells the price that the pod really costs', async () => {
    await lab.faults({ priceChange: { times: 1, percent: 50 } });
    assert.equal((await lab.provider.allocate(requestOf())).pricePerHourCents, 60);
    assert.equal((await lab.provider.allocate(requestOf())).pricePerHourCents, 40);
  });

  const refusals: [string, () => Promise<unknown>, ProviderErrorKind][] = [
    ['no capacity', () => lab.faults({ noCapacity: 1 }), 'no_capacity'],
    ['no capacity of this type', () => lab.faults({ noCapacity: { types: ['RTX4090'] } }), 'no_capacity'],
    ['no money left', () => lab.faults({ noFunds: 1 }), 'refused'],
    [
      'a rate limit',
      () => lab.faults({ rateLimitCreate: { times: 1, retryAfterSeconds: 12 } }),
      'rate_limited',
    ],
  ];
  for (const [what, setFault, kind] of refusals) {
    it(`tells ${kind} for ${what}; nothing is bought and the key is taken back`, async () => {
      await setFault();
      const request = requestOf();
      await assert.rejects(lab.provider.allocate(request), (error) => {
        assert.equal((error as ProviderError).details.noFunds ?? false, what === 'no money left');
        return isOfKind(error, kind);
      });
      assert.deepEqual(await podsOf(request.tag), []);
      await until('the key to be removed', async () =>
        (await keysOf(request.tag)).length === 0 ? true : undefined,
      );
    });
  }

  it('lets other types be had while one has no capacity', async () => {
    await lab.faults({ noCapacity: { types: ['B200'] } });
    await lab.provider.allocate(requestOf());
  });

  it('passes on how long to wait', async () => {
    await lab.faults({ rateLimitCreate: { times: 1, retryAfterSeconds: 12 } });
    await assert.rejects(lab.provider.allocate(requestOf()), (error: ProviderError) => {
      assert.equal(error.details.retryAfterMs, 12_000);
      return true;
    });
  });

  it('tells unknown for a lost answer; the pod is found by its tag, and can be ended', async () => {
    await lab.faults({ loseCreateAnswer: 1 });
    const request = requestOf();
    const hasty = createShadeformProvider({
      ...{ code: 'lab', url: lab.url(), apiKey: API_KEY, deployment: 'test', timeoutMs: 1_000 },
    });
    await assert.rejects(hasty.allocate(request), (error) => isOfKind(error, 'unknown'));
    const pod = await lab.provider.find(request.tag);
    assert.equal(pod?.tag, request.tag);
    assert.equal((await keysOf(request.tag)).length, 1);
    await endWholly(pod.podId, request.tag);
  });

  it('tells unknown for a 500 after the pod was made; it is found by its tag', async () => {
    await lab.faults({ failCreateAfterMake: 1 });
    const request = requestOf();
    await assert.rejects(lab.provider.allocate(request), (error) => isOfKind(error, 'unknown'));
    assert.equal((await lab.provider.find(request.tag))?.pricePerHourCents, 40);
  });

  it('tells refused for a wrong key, before anything is bought', async () => {
    const other = createShadeformProvider({
      code: 'lab',
      url: lab.url(),
      apiKey: 'wrong',
      deployment: 'test',
    });
    const request = requestOf();
    await assert.rejects(other.allocate(request), (error) => isOfKind(error, 'refused'));
    await assert.rejects(other.listOffers(), (error) => isOfKind(error, 'refused'));
    assert.deepEqual(await podsOf(request.tag), []);
  });

  it('tells refused when nobody listens: it never left', async () => {
    const nowhere = createShadeformProvider({
      ...{ code: 'lab', apiKey: 'k', deployment: 'test' },
      url: 'http://127.0.0.1:1',
    });
    await assert.rejects(nowhere.allocate(requestOf()), (error) => isOfKind(error, 'refused'));
    await assert.rejects(nowhere.listPods(), (error) => isOfKind(error, 'unknown'));
  });

  for (const [what, change] of Object.entries({
    'a tag without the deployment’s prefix': { tag: 'other-rent-1' },
    'an unknown template': { templateId: 'windows' },
    'an offer that is none': { offerId: 'vast' },
    'a key of two lines': { publicKeys: [`${newRenterKey().line}\nssh-ed25519 AAAA`] },
    'a key with options': { publicKeys: [`command="x" ${newRenterKey().line}`] },
  })) {
    it(`refuses ${what} before anything is sent`, async () => {
      const before = await idsOf();
      await assert.rejects(lab.provider.allocate(requestOf(change)), (error) => isOfKind(error, 'refused'));
      assert.deepEqual(await idsOf(), before);
    });
  }

  it('tells unknown while the upstream fails, and ends the pod when it is asked again', async () => {
    const request = requestOf();
    const { podId } = await lab.provider.allocate(request);
    await lab.faults({ failDelete: 2 });
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await assert.rejects(lab.provider.terminate(podId), (error) => isOfKind(error, 'unknown'));
    }
    await endWholly(podId, request.tag);
  });

  async function endWholly(podId: string, tag: string): Promise<void> {
    await lab.provider.terminate(podId);
    await until('the pod to be gone', async () => ((await lab.provider.find(tag)) ? undefined : true));
    await until('the key to be removed', async () => ((await keysOf(tag)).length === 0 ? true : undefined));
  }
});
