import assert from 'node:assert/strict';
import type { Dialect } from '../../../../adapters/providers/offers/gpu-models.js';
import type { ProviderError } from '../../../../adapters/providers/provider.js';
import { ownSoftwareId } from '../../../../domain/rentals/software.js';
import { ownSoftware } from '../../../support/own-software.js';
import {
  newRenterKey,
  requestOf,
  runpodRequestOf,
  startLivingLab,
  untilActive,
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
import { contracts, faultsOf, operationOf } from './schemas.js';

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
};

const DIALECTS = [
  { dialect: 'runpod', create: 'POST /v2/pods', failures: runpodFailures, podId: 'p1' },
  { dialect: 'shadeform', create: 'POST /v1/instances/create', failures: shadeformFailures, podId: 'i1' },
] as const;

const NO_QUERY = { type: 'object', maxProperties: 0 };
const REQUESTS = { runpod: runpodRequestOf, shadeform: requestOf };

for (const { dialect, create, failures, podId } of DIALECTS) {
  describe(`the contract with ${dialect}`, () => {
    const contract = contracts[dialect];
    let upstream: ScriptedUpstream;
    beforeEach(async () => {
      upstream = await startScriptedUpstream(dialect);
      for (const [operation, body] of Object.entries(EXAMPLES[dialect])) {
        upstream.handlers[operation.replace('{id}', podId)] = json(operation === create ? 201 : 200, body);
      }
    });
    afterEach(() => upstream.stop());

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
      const software = ownSoftware({ ports: [{ name: 'page', port: 8080, kind: 'http', public: true }] });
      await provider.allocate(REQUESTS[dialect]({ templateId: ownSoftwareId, software, publicKeys: keys }));
      upstream.handlers['DELETE /v2/registries/r1'] = json(204, null);
      await provider.sweepCredentials?.(() => false);
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
      const schema = contract.requests[create] ?? {};
      const body = upstream.sent.find(({ path }) => path === create)?.body as Record<string, unknown>;
      assert.equal(faultsOf(schema, { ...body, name: undefined }).length, 1);
      assert.equal(faultsOf(schema, { ...body, gpuCount: 1 }).length, 1);
    });

    for (const [operation, example] of Object.entries(EXAMPLES[dialect])) {
      it(`describes the documented answer to ${operation}`, () => {
        assert.deepEqual(faultsOf(contract.answers[operation]!, example), []);
        assert.notDeepEqual(faultsOf(contract.answers[operation]!, {}), []);
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

  const answerTo = async (dialect: Dialect, operation: string, path: string, body?: unknown) => {
    const [method = ''] = operation.split(' ');
    const answer = await lab.call(method, path, body);
    assert.deepEqual(faultsOf(contracts[dialect].answers[operation]!, answer.body), [], operation);
    return answer.body;
  };

  for (const { dialect } of DIALECTS) {
    it(`answers as ${dialect} does, while pods are pending, active and crashed`, async () => {
      const provider = dialect === 'runpod' ? lab.runpod : lab.provider;
      const [operation, path] =
        dialect === 'runpod' ? ['GET /v2/pods', '/v2/pods'] : ['GET /v1/instances', '/v1/instances'];
      const request = REQUESTS[dialect]();
      await provider.allocate(request);
      await answerTo(dialect, operation, path);
      const { podId } = await untilActive(provider, request.tag);
      await answerTo(dialect, operation, path);
      await lab.crash(podId);
      await answerTo(dialect, operation, path);
    });
  }

  it('sells as both do', async () => {
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
