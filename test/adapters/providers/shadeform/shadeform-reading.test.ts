import assert from 'node:assert/strict';
import type { Provider } from '../../../../adapters/providers/provider.js';
import {
  isOfKind,
  json,
  startScriptedUpstream,
  text,
  type ScriptedUpstream,
} from '../upstream/scripted-upstream.js';

describe('the Shadeform adapter: reading lists', () => {
  let upstream: ScriptedUpstream;
  let provider: Provider;
  let handlers: ScriptedUpstream['handlers'];
  beforeEach(async () => {
    upstream = await startScriptedUpstream();
    ({ provider, handlers } = upstream);
  });
  afterEach(() => upstream.stop());

  it('never takes an answer without a list for an empty one', async () => {
    for (const handler of [
      json(200, {}),
      json(200, { instances: null, instance_types: null }),
      text(200, 'OK'),
    ]) {
      handlers['GET /v1/instances'] = handler;
      handlers['GET /v1/instances/types'] = handler;
      await assert.rejects(provider.listPods(), (error) => isOfKind(error, 'unknown'));
      await assert.rejects(provider.listOffers(), (error) => isOfKind(error, 'unknown'));
    }
  });

  it('reads every status, takes an unknown one for pending, and leaves out what is gone', async () => {
    const words = [
      'creating',
      'pending_provider',
      'pending',
      'active',
      'error',
      'deleting',
      'deleted',
      'hibernating',
    ];
    handlers['GET /v1/instances'] = json(200, {
      instances: [
        ...words.map((status, index) => ({ id: `pod-${index}`, name: `test-${index}`, status })),
        null,
        'x',
        {},
      ],
    });
    const statuses = (await provider.listPods()).map((pod) => `${pod.upstreamStatus}: ${pod.status}`);
    assert.deepEqual(statuses, [
      ...['creating: pending', 'pending_provider: pending', 'pending: pending', 'active: active'],
      ...['error: lost', 'deleting: ending', 'hibernating: pending'],
    ]);
    assert.deepEqual(upstream.oddities, [{ kind: 'unknown_status', subject: 'hibernating' }]);
  });

  it('reads a pod as the vendor documents it: pending without an address, active without a port', async () => {
    const documented = {
      tags: ['customer', 'test-rent-1'],
      name: 'renamed',
      ssh_user: 'shadeform',
      hourly_price: 57,
    };
    handlers['GET /v1/instances'] = json(200, {
      instances: [
        { id: 'a', ...documented, status: 'pending_provider', ip: null, ssh_port: null },
        { id: 'b', ...documented, status: 'active', ip: '123.123.123.123', ssh_port: null },
      ],
    });
    const pods = (await provider.listPods()).map((pod) => [pod.tag, pod.host, pod.port, pod.username]);
    assert.deepEqual(pods, [
      ['test-rent-1', null, null, 'shadeform'],
      ['test-rent-1', '123.123.123.123', 22, 'shadeform'],
    ]);
  });

  it('skips and counts what can’t be sold, and goes on', async () => {
    const good = typeOf({});
    handlers['GET /v1/instances/types'] = json(200, {
      instance_types: [
        good,
        typeOf({ configuration: { gpu_type: 'H100', num_gpus: 3 } }),
        typeOf({ configuration: { gpu_type: 'MI325X' } }),
        typeOf({ configuration: { vram_per_gpu_in_gb: 40 } }),
        typeOf({ hourly_price: 0 }),
        typeOf({ hourly_price: null }),
        typeOf({ availability: [{ region: 'atlantis-1', available: true, display_name: 'Atlantis' }] }),
        typeOf({ availability: [{ region: 'us-south-1', available: false, display_name: 'US, Texas' }] }),
        typeOf({ availability: null }),
        null,
      ],
    });
    assert.equal((await provider.listOffers()).length, 1);
    assert.deepEqual(
      upstream.oddities.map((oddity) => oddity.kind),
      [
        'unusable_count',
        'unknown_gpu',
        'unknown_gpu',
        'malformed',
        'malformed',
        'unknown_region',
        'malformed',
      ],
    );
  });

  it('offers a machine for what it can be started from: its systems, and a runtime of its own for containers', async () => {
    const types = {
      both: typeOf({}),
      'a bare metal': typeOf({ deployment_type: 'baremetal' }),
      'a container': typeOf({ deployment_type: 'container' }),
      'of an unknown kind': typeOf({ deployment_type: undefined }),
      'old systems': typeOf({ configuration: { os_options: ['ubuntu22.04_cuda12.6_shade_os'] } }),
      'other systems': typeOf({ configuration: { os_options: ['rocky9'] } }),
      none: typeOf({ configuration: { os_options: undefined } }),
    };
    const sold: Record<string, string | undefined> = {};
    for (const [what, type] of Object.entries(types)) {
      handlers['GET /v1/instances/types'] = json(200, { instance_types: [type] });
      const [offer] = await provider.listOffers();
      sold[what] = offer?.templates?.map((id) => (id === 'ubuntu-24-04' ? 'plain' : id)).join(' ');
    }
    const containers = 'pytorch jupyter vllm ollama a1111 text-generation-webui own-software';
    assert.deepEqual(sold, {
      both: `plain ${containers}`,
      'a bare metal': `plain ${containers}`,
      'a container': 'plain',
      'of an unknown kind': 'plain',
      'old systems': containers,
      'other systems': undefined,
      none: undefined,
    });
    assert.deepEqual(
      upstream.oddities.map(({ kind }) => kind),
      ['unfit_system', 'unfit_system'],
    );
  });

  it('tells how long a machine may take to boot, and nothing where that is nonsense', async () => {
    const told: (number | null | undefined)[] = [];
    for (const max_boot_in_sec of [600, 0.5, 0, -1, 1e9, 'soon', undefined]) {
      const type = typeOf({ boot_time: { min_boot_in_sec: 1, max_boot_in_sec } });
      handlers['GET /v1/instances/types'] = json(200, { instance_types: [type] });
      told.push((await provider.listOffers())[0]?.maxBootMs);
    }
    assert.deepEqual(told, [600_000, 500, null, null, null, null, null]);
  });

  it('rounds a price with a fraction of a cent up, and keeps the dearer of an offer listed twice', async () => {
    const twice = [
      typeOf({ hourly_price: 154.84 }),
      typeOf({ hourly_price: 160 }),
      typeOf({ hourly_price: 150 }),
    ];
    handlers['GET /v1/instances/types'] = json(200, { instance_types: twice.slice(0, 1) });
    assert.equal((await provider.listOffers())[0]?.pricePerHourCents, 155);
    handlers['GET /v1/instances/types'] = json(200, { instance_types: twice });
    assert.deepEqual(
      (await provider.listOffers()).map((offer) => offer.pricePerHourCents),
      [160],
    );
  });
});

function typeOf(change: { configuration?: Record<string, unknown>; [field: string]: unknown }): unknown {
  return {
    cloud: 'lambda',
    shade_instance_type: 'H100_sxm5',
    hourly_price: 329,
    deployment_type: 'vm',
    availability: [{ region: 'us-south-1', available: true, display_name: 'US, Texas' }],
    ...change,
    configuration: {
      ...{ num_gpus: 1, gpu_type: 'H100', interconnect: 'sxm5', vram_per_gpu_in_gb: 80 },
      os_options: ['ubuntu24.04_cuda12.8_shade_os', 'ubuntu22.04_cuda12.6_shade_os'],
      ...change.configuration,
    },
  };
}
