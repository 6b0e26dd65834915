import assert from 'node:assert/strict';
import type { Dialect } from '../../../../adapters/providers/offers/gpu-models.js';
import { lambdaInstances } from './lambda-examples.js';
import { runpodPods, shadeformInstances } from './examples.js';
import { vastInstances } from './vast-examples.js';
import { json, startScriptedUpstream, type ScriptedUpstream } from '../upstream/scripted-upstream.js';

describe('what upstreams tell of use', () => {
  let upstream: ScriptedUpstream;
  afterEach(() => upstream.stop());

  it('tells the use of machines that run, where the upstream tells it', async () => {
    const usesOf = async (dialect: Dialect, path: string, body: unknown) => {
      upstream = await startScriptedUpstream(dialect);
      upstream.handlers[path] = json(200, body);
      const pods = await upstream.provider.listPods();
      assert.equal(
        upstream.provider.telemetry !== undefined,
        pods.some(({ use }) => use !== undefined),
      );
      return pods.flatMap(({ podId, use }) => (use ? [[podId, use]] : []));
    };
    const untold = { networkBytesPerSecond: null, sessions: null };
    const [pod, slices] = [runpodPods.active, { id: 'p6', name: 'test-rent-6' }];
    const pods = [
      ...Object.values(runpodPods),
      { ...pod, ...slices, runtime: { ...pod.runtime, gpus: [{}, { util: 2, memoryUtil: 1 }] } },
      { ...pod, id: 'p7', name: 'test-rent-7', runtime: { uptime: 3, gpus: [{ util: 0, memoryUtil: 0 }] } },
      { ...pod, id: 'p8', name: 'test-rent-8', runtime: { gpus: [{ util: 0, memoryUtil: 0 }] } },
    ];
    const told = { report: 9, cpuPercent: 45, memoryPercent: 31, ...untold };
    assert.deepEqual(await usesOf('runpod', 'GET /v2/pods', { pods }), [
      ['p2', { ...told, gpuPercent: 49, busiestGpuPercent: 94, gpuMemoryPercent: 39 }],
      // Of a slice nothing is told, and a list that leaves a GPU out tells nothing of the busiest.
      ['p6', { ...told, gpuPercent: 2, busiestGpuPercent: null, gpuMemoryPercent: 1 }],
      [
        'p7',
        {
          ...{ report: 3, cpuPercent: null, memoryPercent: null, ...untold },
          ...{ gpuPercent: 0, busiestGpuPercent: null, gpuMemoryPercent: 0 },
        },
      ],
    ]);
    const instances = Object.values(vastInstances);
    // One number for four GPUs: the busiest may have it all.
    assert.deepEqual(await usesOf('vast', 'GET /api/v1/instances/', { instances, next_token: null }), [
      [
        '102',
        {
          ...{ report: null, gpuPercent: 21.5, busiestGpuPercent: 86, gpuMemoryPercent: null },
          ...{ cpuPercent: 3.5, memoryPercent: 12.5, ...untold },
        },
      ],
    ]);
    const shadeform = { instances: Object.values(shadeformInstances) };
    assert.deepEqual(await usesOf('shadeform', 'GET /v1/instances', shadeform), []);
    assert.deepEqual(
      await usesOf('lambda', 'GET /api/v1/instances', { data: Object.values(lambdaInstances) }),
      [],
    );
  });
});
