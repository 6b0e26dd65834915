import assert from 'node:assert/strict';
import { API_KEY, startLivingLab, until, type Answer, type LivingLab } from './living-lab.js';

const TYPE = { cloud: 'lambda', region: 'us-south-1', shade_instance_type: 'H100_sxm5' };
const CREATE = { ...TYPE, shade_cloud: true, name: 'test-raw', tags: ['test-raw'] };

describe('lab provider: the API in Shadeform’s dialect', () => {
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  after(() => lab.stop());
  afterEach(() => lab.clearFaults());

  const types = async (query = ''): Promise<Record<string, unknown>[]> => {
    const { body } = await lab.call('GET', `/v1/instances/types${query}`);
    return body['instance_types'] as Record<string, unknown>[];
  };
  const info = (id: unknown): Promise<Answer> => lab.call('GET', `/v1/instances/${String(id)}/info`);

  it('wants its key, but for the lab’s own endpoints', async () => {
    const wrong = { 'x-api-key': 'wrong' };
    assert.equal((await lab.call('GET', '/v1/instances', undefined, wrong)).status, 401);
    assert.equal((await lab.call('POST', '/v1/instances/create', CREATE, wrong)).status, 401);
    assert.equal((await lab.call('GET', '/lab/state', undefined, wrong)).status, 200);
  });

  it('refuses requests of web pages', async () => {
    const page = { origin: 'https://example.org' };
    assert.equal((await lab.call('POST', '/lab/faults', { failDelete: 1 }, page)).status, 403);
  });

  it('sells 28 offers and filters them', async () => {
    assert.equal((await types()).length, 28);
    assert.equal((await types('?cloud=lambda')).length, 3);
    assert.equal((await types('?gpu_type=H100&num_gpus=8')).length, 1);
    assert.equal((await types('?region=us-south-1')).length, 1);
    assert.equal((await types('?shade_instance_type=RTX4090')).length, 2);
    assert.equal((await types('?available=true')).length, 28);
    assert.equal((await types('?available=false')).length, 0);
    const prices = (await types('?sort=price')).map((type) => Number(type['hourly_price']));
    assert.deepEqual(
      prices,
      [...prices].sort((one, other) => one - other),
    );
    assert.equal(prices[0], 40);
  });

  it('shows an offer as the vendor documents it', async () => {
    const [type] = await types('?cloud=lambda&num_gpus=8&gpu_type=H100');
    assert.deepEqual(type, {
      cloud: 'lambda',
      shade_instance_type: 'H100_sxm5x8',
      cloud_instance_type: 'h100_sxm5x8',
      configuration: {
        memory_in_gb: 512,
        storage_in_gb: 256,
        vcpus: 64,
        num_gpus: 8,
        gpu_type: 'H100',
        interconnect: 'sxm5',
        nvlink: true,
        vram_per_gpu_in_gb: 80,
        gpu_manufacturer: 'nvidia',
        os_options: ['ubuntu24.04_cuda12.8_shade_os', 'ubuntu22.04_cuda12.6_shade_os'],
      },
      hourly_price: 2392,
      deployment_type: 'vm',
      availability: [{ region: 'us-south-2', available: true, display_name: 'US, North Texas' }],
      boot_time: { min_boot_in_sec: 1, max_boot_in_sec: 60 },
    });
  });

  it('creates, boots, shows and deletes an instance', async () => {
    await lab.faults({ bootNever: 1 });
    const pending = await lab.call('POST', '/v1/instances/create', CREATE);
    const { ip, ssh_port, hourly_price } = (await info(pending.body['id'])).body;
    assert.deepEqual([ip, ssh_port, hourly_price], [null, null, 329]);
    const { status, body } = await lab.call('POST', '/v1/instances/create', CREATE);
    assert.equal(status, 200);
    const active = await until('the instance to be active', async () => {
      const now = await info(body['id']);
      return now.body['status'] === 'active' ? now : undefined;
    });
    assert.equal(active.body['ip'], '127.0.0.1');
    assert.ok(Number(active.body['ssh_port']) > 0);
    assert.equal(active.body['ssh_user'], 'shadeform');
    assert.equal((await lab.call('POST', `/v1/instances/${String(body['id'])}/delete`)).status, 200);
    await until('the instance to be gone', async () =>
      (await info(body['id'])).status === 404 ? true : undefined,
    );
    assert.equal((await lab.call('POST', `/v1/instances/${String(body['id'])}/delete`)).status, 404);
  });

  it('shows an instance as deleting until it is gone', async () => {
    await lab.faults({ deleteMs: 60_000 });
    const { body } = await lab.call('POST', '/v1/instances/create', CREATE);
    await lab.call('POST', `/v1/instances/${String(body['id'])}/delete`);
    assert.equal((await info(body['id'])).body['status'], 'deleting');
    await lab.faults({ deleteMs: 20 });
  });

  it('can be deleted while it boots, and leaves nothing', async () => {
    await lab.faults({ bootMs: 30 });
    const { body } = await lab.call('POST', '/v1/instances/create', { ...CREATE, name: 'early' });
    await lab.call('POST', `/v1/instances/${String(body['id'])}/delete`);
    await until('the instance to be gone', async () =>
      (await info(body['id'])).status === 404 ? true : undefined,
    );
    const pod = (await lab.state()).pods.find((candidate) => candidate.id === body['id']);
    assert.deepEqual([pod?.status, pod?.port], ['deleted', null]);
    await lab.faults({ bootMs: 20 });
  });

  for (const [what, change] of Object.entries({
    'an unknown type': { shade_instance_type: 'H100_unheard_of' },
    'a type in another region': { region: 'eu-north1' },
    'an unknown key': { ssh_key_id: 'none' },
    'an unknown os': { os: 'plan9' },
    'no name': { name: '' },
    'a script that is not base64': {
      launch_configuration: { type: 'script', script_configuration: { base64_script: '%%%' } },
    },
  })) {
    it(`refuses to create with ${what}`, async () => {
      const before = (await lab.state()).pods.length;
      const { status, body } = await lab.call('POST', '/v1/instances/create', { ...CREATE, ...change });
      assert.equal(status, 400);
      assert.equal(typeof body['error'], 'string');
      assert.equal((await lab.state()).pods.length, before);
    });
  }

  it('refuses a body that is not JSON', async () => {
    const headers = { 'x-api-key': API_KEY };
    const response = await fetch(`${lab.url()}/v1/sshkeys/add`, {
      method: 'POST',
      headers,
      body: '{"name":',
    });
    assert.equal(response.status, 400);
  });

  it('keeps keys: add, list, delete', async () => {
    const added = await lab.call('POST', '/v1/sshkeys/add', { name: 'mine', public_key: 'ssh-ed25519 AAAA' });
    const listed = await lab.call('GET', '/v1/sshkeys');
    assert.deepEqual(listed.body['ssh_keys'], [
      { id: added.body['id'], name: 'mine', public_key: 'ssh-ed25519 AAAA', is_default: false },
    ]);
    const path = `/v1/sshkeys/${String(added.body['id'])}/delete`;
    assert.equal((await lab.call('POST', path)).status, 200);
    assert.equal((await lab.call('POST', path)).status, 404);
  });

  it('tells of keys, ends and variables by an instance alone, and keeps a key while one has it', async () => {
    const added = await lab.call('POST', '/v1/sshkeys/add', { name: 'used', public_key: 'ssh-ed25519 AAAA' });
    const made = {
      ...{ ssh_key_id: String(added.body['id']), envs: [{ name: 'A', value: '1' }] },
      auto_delete: { date_threshold: new Date(Date.now() + 60_000).toISOString() },
    };
    const { body } = await lab.call('POST', '/v1/instances/create', { ...CREATE, ...made });
    const { body: shown } = await info(body['id']);
    const { ssh_key_id, envs, auto_delete, ...rest } = shown;
    assert.deepEqual({ ssh_key_id, envs, auto_delete }, made);
    const { instances } = (await lab.call('GET', '/v1/instances')).body as { instances: { id: string }[] };
    const listed = instances.find(({ id }) => id === body['id']) ?? {};
    assert.deepEqual(Object.keys(listed).toSorted(), Object.keys(rest).toSorted());
    const path = `/v1/sshkeys/${made.ssh_key_id}/delete`;
    assert.equal((await lab.call('POST', path)).status, 400);
    await lab.call('POST', `/v1/instances/${String(body['id'])}/delete`);
    assert.equal((await lab.call('POST', path)).status, 200);
  });

  it('refuses a fault that it does not know', async () => {
    const { status, body } = await lab.call('POST', '/lab/faults', { earthquake: 1 });
    assert.equal(status, 400);
    assert.match(String(body['error']), /earthquake/);
  });

  it('answers 404 for an unknown id or path', async () => {
    assert.equal((await lab.call('GET', '/v1/clusters')).status, 404);
    assert.equal((await lab.call('POST', '/lab/pods/none/crash', {})).status, 404);
  });
});
