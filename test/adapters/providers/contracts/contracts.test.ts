import assert from 'node:assert/strict';
import type { Dialect } from '../../../../adapters/providers/offers/gpu-models.js';
import type { ProviderError } from '../../../../adapters/providers/provider.js';
import type { Provider } from '../../../../adapters/providers/provider.js';
import { noSoftware, ownSoftwareId, type Software } from '../../../../domain/rentals/software.js';
import { ownSoftware } from '../../../support/own-software.js';
import {
  lambdaRequestOf,
  newRenterKey,
  requestOf,
  runpodRequestOf,
  startLivingLab,
  untilActive,
  vastRequestOf,
  type LivingLab,
} from '../../../lab/provider/living-lab.js';
import {
  isOfKind,
  json,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../upstream/scripted-upstream.js';
import {
  runpodFailures,
  runpodGpus,
  runpodPods,
  shadeformFailures,
  shadeformInstances,
  shadeformTypes,
} from './examples.js';
import { lambdaFailures, lambdaInstances, lambdaTypes } from './lambda-examples.js';
import { contracts, faultsOf, operationOf } from './schemas.js';
import { vastFailures, vastInstances, vastOffers } from './vast-examples.js';

function isTold(offer: object): boolean {
  return !Object.values(offer).includes(null);
}

/** The documented answers, by operation. */
const EXAMPLES: Readonly<Record<Dialect, Readonly<Record<string, unknown>>>> = {
  runpod: {
    'GET /v2/catalog/gpus': { gpus: Object.values(runpodGpus) },
    'GET /v2/pods': { pods: Object.values(runpodPods) },
    'POST /v2/pods': runpodPods.placed,
    'GET /v2/registries': { registries: [{ id: 'r1', name: 'test-rent-1' }] },
    'POST /v2/registries': { id: 'r1', name: 'test-rent-1' },
    'POST /graphql': { data: { myself: { clientBalance: 435.85, currentSpendPerHr: 0.001 } } },
  },
  shadeform: {
    'GET /v1/instances/types': { instance_types: Object.values(shadeformTypes) },
    'GET /v1/instances': { instances: Object.values(shadeformInstances) },
    'GET /v1/instances/{id}/info': shadeformInstances.pending,
    'GET /v1/sshkeys': {
      ssh_keys: [{ id: 'key-1', name: 'test-rent-1@1', public_key: 'ssh-ed25519 AAAA', is_default: false }],
    },
    'POST /v1/instances/create': { id: 'i1' },
    'POST /v1/sshkeys/add': { id: 'key-1' },
  },
  vast: {
    // What is not told comes as null, against the description.
    'POST /api/v0/bundles/': { offers: Object.values(vastOffers).filter(isTold) },
    'PUT /api/v0/asks/{id}/': { success: true, new_contract: 7_000_001 },
    'GET /api/v1/instances/': { instances: Object.values(vastInstances), next_token: null },
    'GET /api/v0/ssh/': [],
    'GET /api/v0/users/current/': { id: 1, balance: 12.345 },
  },
  lambda: {
    'GET /api/v1/instance-types': { data: lambdaTypes },
    'GET /api/v1/instances': { data: Object.values(lambdaInstances) },
    'POST /api/v1/instance-operations/launch': { data: { instance_ids: ['i1'] } },
    'GET /api/v1/ssh-keys': { data: [{ id: 'k1', name: 'someone’s', public_key: 'ssh-ed25519 AAAA' }] },
    'POST /api/v1/ssh-keys': { data: { id: 'k2', name: 'test-machines', public_key: 'ssh-ed25519 AAAA' } },
  },
};

interface Row {
  readonly dialect: Dialect;
  readonly create: string;
  /** The field of a create that holds the tag. */
  readonly tag: string;
  readonly failures: typeof runpodFailures;
  /** An id that may stand in a path. */
  readonly podId: string;
}

const launch = 'POST /api/v1/instance-operations/launch';
const DIALECTS: readonly Row[] = [
  { dialect: 'runpod', create: 'POST /v2/pods', tag: 'name', failures: runpodFailures, podId: 'p1' },
  {
    ...{ dialect: 'shadeform', create: 'POST /v1/instances/create', tag: 'name' },
    ...{ failures: shadeformFailures, podId: 'i1' },
  },
  {
    ...{ dialect: 'vast', create: 'PUT /api/v0/asks/7000001/', tag: 'label' },
    ...{ failures: vastFailures, podId: '7000001' },
  },
  { dialect: 'lambda', create: launch, tag: 'name', failures: lambdaFailures, podId: 'i1' },
];

/** The list of machines. */
const LISTS = {
  runpod: '/v2/pods',
  shadeform: '/v1/instances',
  vast: '/api/v1/instances/',
  lambda: '/api/v1/instances',
};

const NO_QUERY = { type: 'object', maxProperties: 0 };
const REQUESTS = {
  runpod: runpodRequestOf,
  shadeform: requestOf,
  vast: vastRequestOf,
  lambda: lambdaRequestOf,
};

for (const { dialect, create, tag, failures, podId } of DIALECTS) {
  describe(`the contract with ${dialect}`, () => {
    const contract = contracts[dialect];
    let upstream: ScriptedUpstream;
    beforeEach(async () => {
      upstream = await startScriptedUpstream(dialect);
      for (const [operation, body] of Object.entries(EXAMPLES[dialect])) {
        upstream.handlers[operation.replace('{id}', podId)] = json(
          operation === create && dialect !== 'vast' ? 201 : 200,
          body,
        );
      }
    });
    afterEach(() => upstream.stop());

    async function rentWithSoftware(provider: Provider, publicKeys: string[]): Promise<void> {
      const { software: able } = provider;
      if (able?.startScript) {
        const software = { ...noSoftware, startScript: 'true', env: { A: 'b' } };
        for (const bootstrap of [undefined, ['true']]) {
          const templateId = 'ubuntu-24-04';
          await provider.allocate(REQUESTS[dialect]({ templateId, software, bootstrap, publicKeys }));
        }
      }
      const ports = [{ name: 'page', port: 8080, kind: 'http', public: true } as const];
      const start = (change: Partial<Software>, bootstrap?: string[]) => {
        const software = ownSoftware({ ports, ...change });
        return provider.allocate(
          REQUESTS[dialect]({ templateId: ownSoftwareId, software, bootstrap, publicKeys }),
        );
      };
      if (able && able.image !== 'none') await start({});
      if (!able?.entrypoint) return;
      for (const startScript of ['true', null]) await start({ entrypoint: 'replace', startScript });
      await start({ entrypoint: 'replace', startScript: 'true' }, ['true']);
    }

    /** Makes every call that an adapter has, with every kind of rental. */
    async function useAll(): Promise<void> {
      const { provider } = upstream;
      await provider.listOffers();
      const keys = [newRenterKey().line, newRenterKey('rsa').line];
      for (const templateId of provider.templates) {
        if (templateId === ownSoftwareId) continue;
        await provider.allocate(REQUESTS[dialect]({ templateId, publicKeys: keys }));
        const endBy = new Date(Date.now() + 3_600_000);
        await provider.allocate(REQUESTS[dialect]({ templateId, endBy }));
      }
      await rentWithSoftware(provider, keys);
      upstream.handlers['DELETE /v2/registries/r1'] = json(204, null);
      await provider.credentials?.list();
      await provider.credentials?.remove('r1');
      await provider.listPods();
      await provider.readBalance?.();
      upstream.handlers[`POST /v1/instances/${podId}/update`] = json(200, {});
      await provider.endBy?.(podId, new Date());
      await provider.terminate(podId);
    }

    it('is kept by every request that the adapter sends', async () => {
      await useAll();
      assert.ok(upstream.sent.some(({ path }) => path === create));
      for (const { path, query, body, headers } of upstream.sent) {
        const operation = operationOf(path);
        const schema = contract.requests[operation];
        assert.notEqual(schema, undefined, `${operation} is not in the contract`);
        if (schema) assert.deepEqual(faultsOf(schema, body), [], operation);
        else assert.equal(body, null, operation);
        if (body !== null) assert.equal(headers['content-type'], 'application/json');
        const asked = Object.fromEntries(query);
        assert.deepEqual(faultsOf(contract.queries[operation] ?? NO_QUERY, asked), [], operation);
      }
    });

    it('refuses a create without a name, and one with a field that is not described', async () => {
      await useAll();
      const schema = contract.requests[operationOf(create)] ?? {};
      const body = upstream.sent.find(({ path }) => path === create)?.body as Record<string, unknown>;
      assert.equal(faultsOf(schema, { ...body, [tag]: undefined }).length, 1);
      assert.equal(faultsOf(schema, { ...body, gpuCount: 1 }).length, 1);
    });

    for (const [operation, example] of Object.entries(EXAMPLES[dialect])) {
      it(`describes the documented answer to ${operation}`, () => {
        assert.deepEqual(faultsOf(contract.answers[operation]!, example), []);
        assert.notDeepEqual(faultsOf(contract.answers[operation]!, 1), []);
      });
    }

    for (const [status, body, kind] of failures) {
      it(`knows a create’s ${status} ${JSON.stringify(body)} as ${kind}`, async () => {
        assert.deepEqual(faultsOf(contract.failure, body), []);
        upstream.handlers[create] = json(status, body);
        await assert.rejects(upstream.provider.allocate(REQUESTS[dialect]()), (error: ProviderError) => {
          assert.equal(error.details.status, status);
          return isOfKind(error, kind);
        });
      });
    }
  });
}

describe('the documented examples, as they are read', () => {
  let upstream: ScriptedUpstream;
  afterEach(() => upstream.stop());
  const podsOf = async (dialect: Dialect, path: string, body: unknown) => {
    upstream = await startScriptedUpstream(dialect);
    upstream.handlers[path] = json(200, body);
    return (await upstream.provider.listPods()).map((pod) => [
      ...[pod.podId, pod.tag, pod.status, pod.host, pod.port, pod.username, pod.pricePerHourCents],
    ]);
  };

  it('RunPod’s pods: placed, starting, active, exited, errored, terminated', async () => {
    assert.deepEqual(await podsOf('runpod', 'GET /v2/pods', { pods: Object.values(runpodPods) }), [
      ['p0', 'test-rent-0', 'pending', null, null, null, 78],
      ['p1', 'test-rent-1', 'pending', null, null, null, 78],
      ['p2', 'test-rent-2', 'active', '192.0.2.7', 34_446, 'root', 78],
      ['p3', 'test-rent-3', 'lost', null, null, null, null],
      ['p4', 'test-rent-4', 'lost', null, null, null, 78],
    ]);
  });

  it('Shadeform’s instances: pending, active, errored', async () => {
    const instances = Object.values(shadeformInstances);
    assert.deepEqual(await podsOf('shadeform', 'GET /v1/instances', { instances }), [
      ['i1', 'test-rent-1', 'pending', null, null, 'shadeform', 57],
      ['i2', 'test-rent-2', 'active', '192.0.2.7', 22, 'shadeform', 57],
      ['i3', 'test-rent-3', 'lost', null, null, 'shadeform', 57],
    ]);
  });

  it('Vast’s instances: made, loading, running, stopped, exited, offline', async () => {
    const body = { instances: Object.values(vastInstances), next_token: null };
    const none = [null, null, null, 40];
    assert.deepEqual(await podsOf('vast', 'GET /api/v1/instances/', body), [
      ['100', 'test-rent-0', 'pending', ...none],
      ['101', 'test-rent-1', 'pending', ...none],
      ['102', 'test-rent-2', 'active', '192.0.2.7', 34_446, 'root', 40],
      ['103', 'test-rent-3', 'lost', ...none],
      ['104', 'test-rent-4', 'lost', ...none],
      ['105', 'test-rent-5', 'pending', '192.0.2.7', 34_447, 'root', 40],
    ]);
  });

  it('Lambda’s instances: booting, active, unhealthy, preempted, terminating, terminated', async () => {
    const body = { data: Object.values(lambdaInstances) };
    assert.deepEqual(await podsOf('lambda', 'GET /api/v1/instances', body), [
      ['i1', 'test-rent-1', 'pending', null, null, 'ubuntu', 329],
      ['i2', 'test-rent-2', 'active', '192.0.2.7', 22, 'ubuntu', 329],
      ['i3', 'test-rent-3', 'pending', null, null, 'ubuntu', 329],
      ['i4', 'test-rent-4', 'lost', null, null, 'ubuntu', 329],
      ['i5', 'test-rent-5', 'ending', null, null, 'ubuntu', 329],
    ]);
  });

  it('Vast’s search: what is known, lasts, and whose traffic costs next to nothing', async () => {
    upstream = await startScriptedUpstream('vast');
    upstream.handlers['POST /api/v0/bundles/'] = json(200, { offers: Object.values(vastOffers) });
    const offers = await upstream.provider.listOffers();
    assert.deepEqual(
      offers.map(({ offerId, model, pricePerHourCents, regionCode }) => [
        ...[offerId, model, pricePerHourCents, regionCode],
      ]),
      [
        ['7000001', 'RTX_4090', 40, 'US'],
        ['7000002', 'A100_SXM_80GB', 110, 'US'],
        ['7000003', 'RTX_4090', 40, 'US'],
      ],
    );
    assert.deepEqual(
      upstream.oddities.map(({ kind, subject }) => `${kind}: ${subject}`),
      [
        'unknown_gpu: Imaginary RTX 9999 24 GB',
        'unknown_region: , ',
        'malformed: offer 7000011',
        'malformed: offer 7000010',
      ],
    );
  });

  it('Lambda’s types: what is known, where it is to be had', async () => {
    upstream = await startScriptedUpstream('lambda');
    upstream.handlers['GET /api/v1/instance-types'] = json(200, { data: lambdaTypes });
    const offers = await upstream.provider.listOffers();
    assert.deepEqual(
      // Each template that fits, and scripts of a renter's own.
      offers.map(({ offerId, model, templates }) => [offerId, model, templates?.length]),
      [
        ['gpu_1x_h100_sxm5/us-south-1', 'H100_SXM_80GB', 8],
        ['gpu_1x_gh200/us-south-1', 'GH200', 2],
        ['gpu_1x_a10/us-south-1', 'A10', 8],
        ['gpu_1x_a100_sxm4/us-south-1', 'A100_SXM_40GB', 8],
      ],
    );
    assert.deepEqual(
      upstream.oddities.map(({ kind, subject }) => `${kind}: ${subject}`),
      ['unknown_region: mars-north-1 (Olympus, Mars)', 'unknown_gpu: Imaginary (999 GB SXM9)'],
    );
  });

  it('RunPod’s catalog: what is sold, and nothing that is sold out', async () => {
    upstream = await startScriptedUpstream('runpod');
    upstream.handlers['GET /v2/catalog/gpus'] = json(200, { gpus: Object.values(runpodGpus) });
    const offers = await upstream.provider.listOffers();
    assert.deepEqual(
      offers.map(({ offerId, pricePerHourCents }) => [offerId, pricePerHourCents]),
      [1, 2, 4, 8].map((count) => [`SECURE/NVIDIA L4/${count}/EU-SE-1`, 39 * count]),
    );
  });

  it('Shadeform’s catalog: what is sold, where it is available', async () => {
    upstream = await startScriptedUpstream('shadeform');
    upstream.handlers['GET /v1/instances/types'] = json(200, {
      instance_types: Object.values(shadeformTypes),
    });
    const offers = await upstream.provider.listOffers();
    assert.deepEqual(
      offers.map(({ offerId, model }) => [offerId, model]),
      [['hyperstack/A6000/montreal-canada-2', 'RTX_A6000']],
    );
  });
});

describe('the lab, held to the contracts', () => {
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  after(() => lab.stop());
  afterEach(() => lab.clearFaults());

  const prefixes = { runpod: '', shadeform: '', vast: '/vast', lambda: '/lambda' };
  const answerTo = async (dialect: Dialect, operation: string, path: string, body?: unknown) => {
    const [method = ''] = operation.split(' ');
    const answer = await lab.call(method, prefixes[dialect] + path, body);
    assert.deepEqual(faultsOf(contracts[dialect].answers[operation]!, answer.body), [], operation);
    return answer.body;
  };

  for (const { dialect } of DIALECTS) {
    it(`answers as ${dialect} does, while pods are pending, active and crashed`, async () => {
      const provider = lab.of(dialect);
      const path = LISTS[dialect];
      const operation = `GET ${path}`;
      const request = REQUESTS[dialect]();
      await provider.allocate(request);
      await answerTo(dialect, operation, path);
      await untilActive(provider, request.tag);
      await answerTo(dialect, operation, path);
      await lab.crashTagged(request.tag);
      await answerTo(dialect, operation, path);
    });
  }

  it('sells as all of them do', async () => {
    await answerTo('vast', 'POST /api/v0/bundles/', '/api/v0/bundles/', {});
    await answerTo('lambda', 'GET /api/v1/instance-types', '/api/v1/instance-types');
    const stock = '/v2/catalog/gpus?include=AVAILABILITY&product=POD&count=8';
    await answerTo('runpod', 'GET /v2/catalog/gpus', stock);
    await answerTo('shadeform', 'GET /v1/instances/types', '/v1/instances/types');
  });

  it('fails as RunPod does', async () => {
    const create = { name: 'test-x', image: 'x', gpu: { id: 'NVIDIA GeForce RTX 4090', count: 1 } };
    const statuses: number[] = [];
    const fail = async (method: string, path: string, body?: unknown): Promise<void> => {
      const answer = await lab.call(method, path, body);
      assert.deepEqual(faultsOf(contracts.runpod.failure, answer.body), []);
      assert.equal(answer.body['status'], answer.status);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
      statuses.push(answer.status);
    };
    await fail('POST', '/v2/pods', { ...create, disk: 0 });
    await fail('DELETE', '/v2/pods/none');
    await lab.faults({ noCapacity: 1 });
    await fail('POST', '/v2/pods', create);
    await lab.faults({ rateLimitCreate: 1 });
    await fail('POST', '/v2/pods', create);
    await lab.faults({ failCreateAfterMake: 1 });
    await fail('POST', '/v2/pods', create);
    assert.deepEqual(statuses, [422, 404, 400, 429, 500]);
  });
});
