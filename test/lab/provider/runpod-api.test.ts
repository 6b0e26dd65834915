import type { ProviderError } from '../../../adapters/providers/provider.js';
import assert from 'node:assert/strict';
import { startLivingLab, until, untilActive, runpodRequestOf, type LivingLab } from './living-lab.js';

const CREATE = {
  name: 'test-raw',
  image: 'runpod/base:1.0.2-cuda1281-ubuntu2404',
  gpu: { id: 'NVIDIA GeForce RTX 4090', count: 1 },
};

describe('lab provider: the API in RunPod’s dialect', () => {
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  after(() => lab.stop());
  afterEach(() => lab.clearFaults());

  it('wants its key as a bearer token, and tells problems as problem+json', async () => {
    for (const headers of [{ authorization: 'Bearer wrong' }, { authorization: 'test-key' }]) {
      const answer = await lab.call('GET', '/v2/pods', undefined, headers);
      assert.equal(answer.status, 401);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
      assert.deepEqual(answer.body, { title: 'Unauthorized', status: 401, detail: 'invalid API key' });
    }
    assert.equal((await lab.call('GET', '/v2/nothing')).body['status'], 404);
  });

  it('tells the account’s quotas with every answer, and refuses what is beyond those that were set', async () => {
    const first = await lab.call('GET', '/v2/pods');
    assert.equal(
      first.headers.get('ratelimit-policy'),
      '"minute";q=60;w=60, "hour";q=3000;w=3600, "day";q=50000;w=86400',
    );
    assert.match(first.headers.get('ratelimit') ?? '', /^"minute";r=\d+;t=\d+, "hour";r=\d+;t=\d+, "day";r=/);
    await lab.faults({ quotas: [{ name: 'day', quota: 2, windowSeconds: 1 }] });
    assert.equal((await lab.call('GET', '/v2/nothing')).headers.get('ratelimit'), '"day";r=1;t=1');
    assert.equal((await lab.call('GET', '/v2/pods')).headers.get('ratelimit'), '"day";r=0;t=1');
    const refused = await lab.call('DELETE', '/v2/pods/none');
    assert.deepEqual(
      [refused.status, refused.headers.get('retry-after'), refused.body['detail']],
      [429, '1', 'rate limit exceeded for the day window'],
    );
    await until('the next window', async () =>
      (await lab.call('GET', '/v2/pods')).status === 200 ? true : undefined,
    );
    await lab.faults({ quotas: [] });
    assert.equal((await lab.call('GET', '/v2/pods')).headers.get('ratelimit'), null);
    await lab.faults({ quotas: null });
  });

  it('tells the account’s balance and what its pods cost, field by field, by GraphQL', async () => {
    await lab.faults({ balanceCents: 4_218 });
    const ask = (query: string, headers?: Record<string, string>) =>
      lab.call('POST', '/graphql', { query }, headers);
    const query = 'query { myself { clientBalance currentSpendPerHr } }';
    assert.deepEqual((await ask(query)).body, {
      data: { myself: { clientBalance: 42.18, currentSpendPerHr: 0 } },
    });
    const { body } = await lab.call('POST', '/v2/pods', CREATE);
    const rented = await ask('{ myself { currentSpendPerHr } }');
    assert.deepEqual(rented.body, { data: { myself: { currentSpendPerHr: body['cost'] } } });
    await lab.call('DELETE', `/v2/pods/${String(body['id'])}`);
    assert.deepEqual((await ask('{ myself { currentSpendPerHr } }')).body, {
      data: { myself: { currentSpendPerHr: 0 } },
    });
    assert.equal((await ask('{ myself { pubKey } }')).status, 400);
    assert.equal((await ask(query, { authorization: 'Bearer wrong' })).status, 401);
  });

  const misfits: Record<string, unknown> = {
    'no image': { ...CREATE, image: undefined },
    'no gpu': { ...CREATE, gpu: undefined },
    'a field that is none': { ...CREATE, gpuCount: 1 },
    'a field of the GPU that is none': { ...CREATE, gpu: { ...CREATE.gpu, type: 'x' } },
    'a port without a protocol': { ...CREATE, ports: ['22'] },
    'an environment that is no text': { ...CREATE, env: { PORT: 1 } },
  };
  for (const [what, body] of Object.entries(misfits)) {
    it(`refuses to create with ${what}, naming it`, async () => {
      const answer = await lab.call('POST', '/v2/pods', body);
      assert.equal(answer.status, 422);
      assert.equal((answer.body['errors'] as unknown[]).length, 1);
    });
  }

  it('can’t place a community pod, nor GPUs where there are none', async () => {
    const elsewhere = { ...CREATE, dataCenterIds: ['US-TX-3'] };
    for (const body of [{ ...CREATE, cloud: 'COMMUNITY' }, elsewhere]) {
      assert.equal((await lab.call('POST', '/v2/pods', body)).status, 400);
    }
  });

  it('places a pod anywhere when no data center is asked for', async () => {
    const { status, body } = await lab.call('POST', '/v2/pods', CREATE);
    assert.deepEqual([status, body['dataCenterId'], body['status']], [201, 'EU-RO-1', 'PROVISIONING']);
  });

  it('tells the stock of a count only when it is asked for', async () => {
    const gpusOf = async (query: string) =>
      (await lab.call('GET', `/v2/catalog/gpus${query}`)).body['gpus'] as Record<string, unknown>[];
    assert.ok((await gpusOf('')).every((gpu) => !('availability' in gpu)));
    assert.equal((await lab.call('GET', '/v2/catalog/gpus?include=AVAILABILITY')).status, 400);
    const ofEight = await gpusOf('?include=AVAILABILITY&product=POD&count=8');
    assert.deepEqual(
      ofEight.filter((gpu) => gpu['availability'] === 'HIGH').map((gpu) => gpu['name']),
      ['RTX 4090', 'A100-SXM4-80GB'],
    );
  });

  it('keeps a pod’s dialect, login name and keys over a restart', async () => {
    const request = runpodRequestOf();
    await lab.runpod.allocate(request);
    await untilActive(lab.runpod, request.tag);
    await lab.restart();
    const pod = await untilActive(lab.runpod, request.tag);
    assert.equal(pod.username, 'root');
    assert.equal(await lab.provider.find(request.tag), undefined);
  });

  it('shows a pod no more from the moment of its deletion', async () => {
    await lab.faults({ deleteMs: 60_000 });
    const request = runpodRequestOf();
    const { podId } = await lab.runpod.allocate(request);
    assert.equal((await lab.call('DELETE', `/v2/pods/${podId}`)).status, 204);
    await lab.faults({ deleteMs: 20 });
    assert.equal(await lab.runpod.find(request.tag), undefined);
  });

  it('refuses what RunPod refuses: no count, two rules for one version, filters without include', async () => {
    const gpu = { id: 'NVIDIA GeForce RTX 4090', count: 1 };
    const create = (change: object) =>
      lab.call('POST', '/v2/pods', { name: 'test-x', image: 'i', gpu: { ...gpu, ...change } });
    assert.equal((await create({ count: undefined })).status, 400);
    assert.equal((await create({ minCudaVersion: '12.8', allowedCudaVersions: ['12.8'] })).status, 400);
    for (const query of ['product=POD', 'count=1', 'minCudaVersion=12.8&cloud=SECURE'])
      assert.equal((await lab.call('GET', `/v2/catalog/gpus?${query}`)).status, 400, query);
  });

  it('tells of an account without money by 402', async () => {
    await lab.faults({ noFunds: 1 });
    await assert.rejects(lab.runpod.allocate(runpodRequestOf()), (error: ProviderError) => {
      assert.deepEqual([error.kind, error.details.noFunds], ['refused', true]);
      return true;
    });
    await lab.runpod.allocate(runpodRequestOf());
  });
});
