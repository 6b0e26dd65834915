import assert from 'node:assert/strict';
import type { Provider } from '../../../../adapters/providers/provider.js';
import {
  isOfKind,
  json,
  startScriptedUpstream,
  text,
  type ScriptedUpstream,
} from '../upstream/scripted-upstream.js';

const CATALOG = 'GET /v2/catalog/gpus';

describe('the RunPod adapter: reading lists', () => {
  let upstream: ScriptedUpstream;
  let provider: Provider;
  let handlers: ScriptedUpstream['handlers'];
  beforeEach(async () => {
    upstream = await startScriptedUpstream('runpod');
    ({ provider, handlers } = upstream);
  });
  afterEach(() => upstream.stop());

  /** Answers the list for one count, and empty lists for the others. */
  const sell = (count: number, ...gpus: unknown[]): void => {
    handlers[CATALOG] = (response, path, query) =>
      json(200, { gpus: query.get('count') === String(count) ? gpus : [] })(response, path, query);
  };
  const idsOf = async () => (await provider.listOffers()).map((offer) => offer.offerId);
  const oddKinds = () => upstream.oddities.map((oddity) => `${oddity.kind}: ${oddity.subject}`);

  it('asks for the stock of each count, one after the other', async () => {
    let open = 0;
    handlers[CATALOG] = (response, path, query) => {
      open += 1;
      assert.equal(open, 1);
      setImmediate(() => {
        open -= 1;
        json(200, { gpus: [] })(response, path, query);
      });
    };
    assert.deepEqual(await provider.listOffers(), []);
    assert.deepEqual(
      upstream.sent.map(({ query }) => Object.fromEntries(query)),
      ['1', '2', '4', '8'].map((count) => ({
        ...{ include: 'AVAILABILITY', product: 'POD', count, cloud: 'SECURE', minCudaVersion: '12.8' },
      })),
    );
  });

  it('reads an offer for each data center that has some, at the price of all its GPUs', async () => {
    const places = [
      { id: 'US-KS-2', name: 'US Kansas 2', availability: 'LOW' },
      { id: 'US-TX-3', name: 'US Texas 3', availability: 'NONE' },
      { id: 'EU-RO-1', name: 'EU Romania 1', availability: 'HIGH' },
      { id: 'EU-SE-1', name: 'EU Sweden 1' },
    ];
    sell(2, gpuOf({ id: 'NVIDIA A100 80GB PCIe', memory: 80, price: { secure: 1.1 }, dataCenters: places }));
    const offers = await provider.listOffers();
    assert.deepEqual(offers[0], {
      offerId: 'SECURE/NVIDIA A100 80GB PCIe/2/US-KS-2',
      model: 'A100_PCIE_80GB',
      family: 'a100-80gb',
      vramGb: 80,
      gpuCount: 2,
      pricePerHourCents: 220,
      region: 'US Kansas 2',
      regionCode: 'US',
      interconnect: 'pcie',
    });
    assert.deepEqual(
      offers.map((offer) => [offer.region, offer.regionCode]),
      [
        ['US Kansas 2', 'US'],
        ['EU Romania 1', 'RO'],
      ],
    );
    assert.deepEqual(upstream.oddities, []);
  });

  const sockets: [string, number, string, string][] = [
    ['NVIDIA H100 80GB HBM3', 80, 'H100_SXM_80GB', 'sxm'],
    ['NVIDIA H100 PCIe', 80, 'H100_PCIE_80GB', 'pcie'],
    ['NVIDIA H100 NVL', 94, 'H100_NVL_94GB', 'nvl'],
    ['NVIDIA GeForce RTX 4090', 24, 'RTX_4090', 'unknown'],
  ];
  for (const [id, memory, model, interconnect] of sockets) {
    it(`reads ${id} as ${model}, socket ${interconnect}`, async () => {
      sell(1, gpuOf({ id, memory }));
      const [offer] = await provider.listOffers();
      assert.deepEqual([offer?.model, offer?.interconnect], [model, interconnect]);
    });
  }

  it('sells no more GPUs than one machine has', async () => {
    handlers[CATALOG] = json(200, { gpus: [gpuOf({ maxCount: { secure: 4, community: 8 } })] });
    assert.deepEqual(await idsOf(), [
      ...[1, 2, 4].map((count) => `SECURE/NVIDIA GeForce RTX 4090/${count}/US-KS-2`),
    ]);
  });

  it('skips what can’t be sold, tells it once, and goes on', async () => {
    handlers[CATALOG] = (response, path, query) => {
      const gpus = [
        gpuOf({ id: 'AMD Instinct MI325X OAM', memory: 192 }),
        gpuOf({ id: 'NVIDIA GeForce RTX 4090', memory: 48 }),
        gpuOf({ id: 'NVIDIA L4', memory: 24, price: { secure: 0 } }),
        gpuOf({ id: 'NVIDIA L40', memory: 48, price: null }),
        gpuOf({ id: null }),
        gpuOf({
          id: 'NVIDIA A40',
          memory: 48,
          dataCenters: [{ id: 'EU-XX-1', name: 'x', availability: 'LOW' }],
        }),
        gpuOf({ id: 'NVIDIA L40S', memory: 48, dataCenters: [{ availability: 'LOW' }] }),
        gpuOf({ id: 'unknown and gone', dataCenters: [] }),
        gpuOf({ id: 'unknown and gone', dataCenters: undefined }),
        gpuOf({ id: 'unknown and community only', maxCount: { secure: 0, community: 8 } }),
        gpuOf({ dataCenters: [{ id: 'CA-MTL-1', availability: 'SOME' }] }),
        null,
      ];
      json(200, { gpus })(response, path, query);
    };
    assert.deepEqual((await idsOf())[0], 'SECURE/NVIDIA GeForce RTX 4090/1/CA-MTL-1');
    assert.equal((await idsOf()).length, 4);
    assert.deepEqual(oddKinds().slice(0, oddKinds().length / 2), [
      'unknown_gpu: AMD Instinct MI325X OAM 192 GB',
      'unknown_gpu: NVIDIA GeForce RTX 4090 48 GB',
      'malformed: gpu NVIDIA L4',
      'malformed: gpu NVIDIA L40',
      'malformed: gpu ?',
      'unknown_region: EU-XX-1 (x)',
      'malformed: data center without an id: NVIDIA L40S',
    ]);
  });

  it('keeps the dearer of an offer that is listed twice', async () => {
    sell(1, gpuOf({ price: { secure: 0.5 } }), gpuOf({ price: { secure: 0.7 } }), gpuOf({}));
    assert.deepEqual(
      (await provider.listOffers()).map((offer) => offer.pricePerHourCents),
      [70],
    );
  });

  it('takes no part for the whole: one failed list fails all, whichever it is', async () => {
    for (const failing of ['1', '2', '4', '8']) {
      handlers[CATALOG] = (response, path, query) => {
        const fails = query.get('count') === failing;
        json(fails ? 500 : 200, { gpus: [gpuOf({})] })(response, path, query);
      };
      await assert.rejects(provider.listOffers(), (error) => isOfKind(error, 'unknown'));
    }
  });

  it('never takes an answer without a list for an empty one', async () => {
    for (const handler of [json(200, {}), json(200, { pods: null, gpus: null }), text(200, 'OK')]) {
      handlers['GET /v2/pods'] = handler;
      handlers[CATALOG] = handler;
      await assert.rejects(provider.listPods(), (error) => isOfKind(error, 'unknown'));
      await assert.rejects(provider.listOffers(), (error) => isOfKind(error, 'unknown'));
    }
  });

  it('reads every status, takes an unknown one for pending, and leaves out what is gone', async () => {
    const words = ['PROVISIONING', 'STARTING', 'RUNNING', 'EXITED', 'ERROR', 'TERMINATED', 'PAUSED'];
    handlers['GET /v2/pods'] = json(200, {
      pods: [
        ...words.map((status, index) => ({ id: `pod-${index}`, name: `test-${index}`, status })),
        ...[null, 'x', {}, { name: 'test-8', status: 'RUNNING' }],
      ],
    });
    const statuses = (await provider.listPods()).map((pod) => `${pod.upstreamStatus}: ${pod.status}`);
    assert.deepEqual(statuses, [
      ...['PROVISIONING: pending', 'STARTING: pending', 'RUNNING: active', 'EXITED: lost', 'ERROR: lost'],
      'PAUSED: pending',
    ]);
    assert.deepEqual(oddKinds(), ['unknown_status: PAUSED', 'malformed: pod without an id: test-8']);
  });

  it('reads the address of the pod’s own daemon, never the proxy’s', async () => {
    const proxy = { host: 'ssh.runpod.io', port: 22, username: 'token', command: 'ssh' };
    const direct = { host: '195.26.233.3', port: 34_446, username: 'root', command: 'ssh' };
    const named = { name: 'test-1', status: 'RUNNING', cost: 0.44 };
    handlers['GET /v2/pods'] = json(200, {
      pods: [
        { id: 'a', ...named, ssh: { proxy, direct } },
        { id: 'b', ...named, ssh: { proxy, direct: null }, cost: 0 },
        { id: 'c', ...named, ssh: { proxy, direct: { host: '195.26.233.3' } } },
        { id: 'd', ...named },
      ],
    });
    const pods = (await provider.listPods()).map((pod) => [
      ...[pod.podId, pod.host, pod.port, pod.username, pod.pricePerHourCents],
    ]);
    assert.deepEqual(pods, [
      ['a', '195.26.233.3', 34_446, 'root', 44],
      ['b', null, null, null, null],
      ['c', null, null, null, 44],
      ['d', null, null, null, 44],
    ]);
  });

  it('finds a pod by its whole name', async () => {
    handlers['GET /v2/pods'] = json(200, {
      pods: [
        { id: 'a', name: 'test-rent-10', status: 'RUNNING' },
        { id: 'b', name: 'test-rent-1', status: 'RUNNING' },
        { id: 'c', name: 'tester-rent-1', status: 'RUNNING' },
      ],
    });
    assert.equal((await provider.find('test-rent-1'))?.podId, 'b');
    assert.equal(await provider.find('test-rent-2'), undefined);
    assert.equal((await provider.listPods()).length, 2);
  });
});

function gpuOf(change: Record<string, unknown>): unknown {
  return {
    ...{ id: 'NVIDIA GeForce RTX 4090', name: 'RTX 4090', pool: 'ADA_24', manufacturer: 'NVIDIA' },
    ...{ memory: 24, secure: true, community: true, availability: 'HIGH' },
    price: { secure: 0.44, community: 0.31 },
    maxCount: { secure: 8, community: 4 },
    dataCenters: [{ id: 'US-KS-2', name: 'US Kansas 2', availability: 'HIGH' }],
    ...change,
  };
}
