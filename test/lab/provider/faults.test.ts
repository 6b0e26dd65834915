import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { captureHostKey, probeSsh } from '../../../adapters/providers/ssh/ssh-probe.js';
import type {
  AllocationRequest,
  Pod,
  Provider,
  ProviderError,
} from '../../../adapters/providers/provider.js';
import {
  newRenterKey,
  requestOf,
  startLivingLab,
  until,
  untilActive,
  runpodRequestOf,
  type LivingLab,
} from './living-lab.js';

/** The lab's faults as the service sees them, through each adapter. */
describe('lab provider: faults', () => {
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  afterEach(() => lab.clearFaults());
  after(() => lab.stop());

  const dialects: [string, () => Provider, () => AllocationRequest][] = [
    ['shadeform', () => lab.provider, () => requestOf()],
    ['runpod', () => lab.runpod, () => runpodRequestOf()],
  ];

  const probe = ({ host, port }: { host: string; port: number }) =>
    probeSsh({ host, port, allowPrivate: true, connectTimeoutMs: 500, identTimeoutMs: 150 });
  const hostKey = ({ host, port }: { host: string; port: number }) =>
    captureHostKey({ host, port, allowPrivate: true, timeoutMs: 1_000 });

  for (const [dialect, provider, request] of dialects) {
    describe(`in ${dialect}’s dialect`, () => {
      async function make(): Promise<Pod & { host: string; port: number }> {
        const asked = request();
        await provider().allocate(asked);
        return untilActive(provider(), asked.tag);
      }

      it('listLag: a pod that was made shows up later', async () => {
        await lab.faults({ listLag: { times: 1, forMs: 1_000 } });
        const asked = request();
        await provider().allocate(asked);
        assert.equal(await provider().find(asked.tag), undefined);
        await until('it is listed', () => provider().find(asked.tag));
      });

      it('late404: its delete is a 404, and it is there all the same', async () => {
        await lab.faults({ late404: { times: 1, forMs: 300 } });
        const asked = request();
        const { podId } = await provider().allocate(asked);
        await provider().terminate(podId);
        assert.ok(await provider().find(asked.tag), 'a 404 is no proof');
        await sleep(320);
        await provider().terminate(podId);
        await until('it is gone', async () => ((await provider().find(asked.tag)) ? undefined : true));
      });

      it('sshSilent: up in the lists, accepts, and says nothing', async () => {
        await lab.faults({ sshSilent: 1 });
        assert.deepEqual(await probe(await make()), { answered: false, reason: 'ident-timeout' });
      });

      it('sshRefused: up in the lists, and nobody listens', async () => {
        await lab.faults({ sshRefused: 1 });
        assert.deepEqual(await probe(await make()), { answered: false, reason: 'ECONNREFUSED' });
      });

      it('crashAfter: dies by itself, in each way', async () => {
        for (const mode of ['error', 'preempted', 'vanish', 'unreachable'] as const) {
          await lab.faults({ crashAfter: { times: 1, afterMs: 50, mode } });
          const pod = await make();
          await until(`${mode} is seen`, async () => {
            const seen = await provider().find(pod.tag);
            if (mode === 'unreachable') return (await probe(pod)).answered ? undefined : true;
            return seen?.status === 'active' ? undefined : true;
          });
        }
      });

      it('soldTwice: the second buyer’s machine fails to start', async () => {
        await lab.faults({ soldTwice: 1 });
        const asked = request();
        await provider().allocate(asked);
        await until('it failed', async () =>
          (await provider().find(asked.tag))?.status === 'lost' ? true : undefined,
        );
      });

      it('reuseAddress: shows another machine’s address for a while', async () => {
        const first = await make();
        await lab.faults({ reuseAddress: { times: 1, forMs: 2_000 } });
        const second = await make();
        assert.equal(await hostKey(second), await hostKey(first));
        const own = await until('it has an address of its own', async () => {
          const pod = await provider().find(second.tag);
          if (!pod?.host || !pod.port || pod.port === first.port) return undefined;
          return { host: pod.host, port: pod.port };
        });
        assert.notEqual(await hostKey(own), await hostKey(first));
      });

      it('rateLimit and failRequest strike the endpoints that they name', async () => {
        await lab.faults({ rateLimit: { times: 1, on: ['list'], retryAfterSeconds: 7 } });
        await provider().listOffers();
        await assert.rejects(provider().listPods(), (error: ProviderError) => {
          assert.deepEqual([error.kind, error.details.retryAfterMs], ['rate_limited', 7_000]);
          return true;
        });
        await provider().listPods();
        await lab.faults({ failRequest: { times: 1, on: ['offers'] } });
        await provider().listPods();
        await assert.rejects(provider().listOffers(), { kind: 'unknown' });
      });
    });
  }

  it('a script sets one fault after the other, and ends when the faults are cleared', async () => {
    const steps = [
      { afterMs: 0, failRequest: { times: true, on: ['list'] } },
      { afterMs: 1_000, failRequest: 0 },
      { afterMs: 60_000, failRequest: true },
    ];
    assert.equal((await lab.call('POST', '/lab/script', { steps })).status, 200);
    const lists = () =>
      lab.provider.listPods().then(
        () => true,
        () => false,
      );
    await until('it fails', async () => !(await lists()));
    await until('it lists again', lists);
    assert.equal((await lab.call('POST', '/lab/script', { steps: [{ failRequest: 1 }] })).status, 400);
  });

  it('auto_delete: the upstream itself ends a pod at its date, unless that is renewed', async () => {
    const asked = requestOf({ endBy: new Date(Date.now() + 3_000), publicKeys: [newRenterKey().line] });
    const renewed = requestOf({ endBy: new Date(Date.now() + 3_000) });
    await lab.provider.allocate(asked);
    const { podId } = await lab.provider.allocate(renewed);
    await lab.provider.endBy?.(podId, new Date(Date.now() + 60_000));
    await until('the first is gone', async () => ((await lab.provider.find(asked.tag)) ? undefined : true));
    assert.ok(await lab.provider.find(renewed.tag));
  });
});
