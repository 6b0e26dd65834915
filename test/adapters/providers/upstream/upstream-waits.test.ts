import assert from 'node:assert/strict';
import { requestOf, runpodRequestOf } from '../../../lab/provider/living-lab.js';
import { isOfKind, silence, startScriptedUpstream } from './scripted-upstream.js';

const creates = { shadeform: 'POST /v1/instances/create', runpod: 'POST /v2/pods' } as const;
const lists = { shadeform: 'GET /v1/instances', runpod: 'GET /v2/pods' } as const;
const requests = { shadeform: requestOf, runpod: runpodRequestOf } as const;

/** Each adapter's own limit is 5 seconds here. */
for (const dialect of ['shadeform', 'runpod'] as const) {
  describe(`what a caller of the ${dialect} adapter can wait`, () => {
    it('ends each call, whatever the limit of a call', async () => {
      const upstream = await startScriptedUpstream(dialect);
      const { provider, handlers } = upstream;
      try {
        for (const path of [creates[dialect], lists[dialect]]) handlers[path] = silence;
        const startedMs = performance.now();
        const soon = (): { untilMs: number } => ({ untilMs: performance.now() + 1_000 });
        await assert.rejects(provider.allocate(requests[dialect](soon())), (error) =>
          isOfKind(error, 'unknown'),
        );
        await assert.rejects(provider.find('test-1', soon()), (error) => isOfKind(error, 'unknown'));
        await assert.rejects(provider.listPods(), (error) => isOfKind(error, 'unknown'));
        const elapsedMs = performance.now() - startedMs;
        assert.ok(elapsedMs > 5_000, `the list alone has all of its limit: ${elapsedMs} ms`);
      } finally {
        await upstream.stop();
      }
    });

    it('that is over before a call sends nothing: nothing was bought', async () => {
      const upstream = await startScriptedUpstream(dialect);
      const { provider, asked } = upstream;
      try {
        const over = { untilMs: performance.now() - 1 };
        await assert.rejects(provider.allocate(requests[dialect](over)), (error) =>
          isOfKind(error, 'refused'),
        );
        await assert.rejects(provider.terminate('pod-1', over), (error) => isOfKind(error, 'unknown'));
        assert.deepEqual(asked, []);
      } finally {
        await upstream.stop();
      }
    });
  });
}
