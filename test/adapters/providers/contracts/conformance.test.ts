import assert from 'node:assert/strict';
import type { ListedUse } from '../../../../domain/machines/telemetry.js';
import type { Dialect } from '../../../../adapters/providers/offers/gpu-models.js';
import type {
  AllocationRequest,
  ProviderError,
  ProviderErrorKind,
} from '../../../../adapters/providers/provider.js';
import { probeSsh } from '../../../../adapters/providers/ssh/ssh-probe.js';
import type { FaultsBody } from '../../../../lab/provider/fault-bodies.js';
import {
  lambdaRequestOf,
  login,
  newRenterKey,
  requestOf,
  runpodRequestOf,
  startLivingLab,
  until,
  untilActive,
  vastRequestOf,
  type LivingLab,
} from '../../../lab/provider/living-lab.js';
import { isOfKind } from '../upstream/scripted-upstream.js';

type RequestOf = (change?: Partial<AllocationRequest>) => AllocationRequest;

const REQUESTS: Readonly<Record<Dialect, RequestOf>> = {
  shadeform: requestOf,
  runpod: runpodRequestOf,
  vast: vastRequestOf,
  lambda: lambdaRequestOf,
};

/** What each upstream tells beside its machines (decision 157, "Four upstreams"). */
const CAPABILITIES: Readonly<
  Record<Dialect, { balance: boolean; endBy: boolean; telemetry: boolean; restarts: boolean }>
> = {
  shadeform: { balance: false, endBy: true, telemetry: false, restarts: false },
  runpod: { balance: true, endBy: false, telemetry: true, restarts: true },
  vast: { balance: true, endBy: false, telemetry: true, restarts: false },
  lambda: { balance: false, endBy: false, telemetry: false, restarts: false },
};

/** The refusals of a create, and how each is known. */
const REFUSALS: readonly (readonly [words: string, faults: FaultsBody, kind: ProviderErrorKind])[] = [
  ['has no machine left', { noCapacity: 1 }, 'no_capacity'],
  ['shuts the account out', { noFunds: 1 }, 'refused'],
  ['limits the rate', { rateLimitCreate: 1 }, 'rate_limited'],
];

describe('every adapter, against the lab in its dialect', () => {
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  after(() => lab.stop());
  afterEach(() => lab.clearFaults());

  for (const dialect of Object.keys(REQUESTS) as Dialect[]) {
    describe(dialect, () => {
      const request: RequestOf = (change) => REQUESTS[dialect](change);
      const made = async (tag: string) => (await lab.state()).pods.filter(({ name }) => name === tag);

      it('lists an offer that can be bought, in whole cents, of a country', async () => {
        const offers = await lab.of(dialect).listOffers();
        const wanted = request();
        const offer = offers.find(({ offerId }) => offerId === wanted.offerId);
        assert.equal(offer?.pricePerHourCents, wanted.maxPricePerHourCents);
        assert.match(offer.regionCode, /^[A-Z]{2}$/);
        assert.equal(new Set(offers.map(({ offerId }) => offerId)).size, offers.length);
      });

      it('buys a machine that the renter enters and nobody else, and ends it until it is gone', async () => {
        const provider = lab.of(dialect);
        const key = newRenterKey();
        const { tag, ...rest } = request({ publicKeys: [key.line] });
        const bought = await provider.allocate({ tag, ...rest });
        const { podId, host, port, username } = await untilActive(provider, tag);
        assert.equal(podId, bought.podId);
        const limits = { connectTimeoutMs: 1_500, identTimeoutMs: 1_500 };
        const probed = await probeSsh({ host, port, allowPrivate: true, ...limits });
        assert.equal(probed.answered, true, JSON.stringify(probed));
        const enter = (who: typeof key) =>
          login({ port, user: username ?? '', key: who, command: 'echo in' });
        assert.equal((await enter(key)).stdout, 'in\n');
        assert.notEqual((await enter(newRenterKey())).code, 0);
        await provider.terminate(podId);
        await until('the end', async () =>
          (await provider.listPods()).some((pod) => pod.tag === tag) ? undefined : true,
        );
        // Ending what is gone already is no failure.
        await provider.terminate(podId);
        await until('the end in the lab', async () =>
          (await made(tag))[0]?.status === 'deleted' ? true : undefined,
        );
      });

      it('finds by its tag what a lost answer bought, and lists it among all of ours', async () => {
        const provider = lab.of(dialect);
        await lab.faults({ loseCreateAnswer: 1 });
        const lost = request({ untilMs: performance.now() + 300 });
        await assert.rejects(provider.allocate(lost), (error) => isOfKind(error, 'unknown'));
        const found = await provider.find(lost.tag);
        assert.equal(found?.tag, lost.tag);
        assert.equal(found.pricePerHourCents, lost.maxPricePerHourCents);
        assert.ok((await provider.listPods()).some(({ podId }) => podId === found.podId));
        assert.equal(await provider.find('test-rent-none-1'), undefined);
        await provider.terminate(found.podId);
      });

      it('tells when a machine was last started, if its list does', async () => {
        const provider = lab.of(dialect);
        const wanted = request();
        await provider.allocate(wanted);
        const before = (await untilActive(provider, wanted.tag)).startedAt;
        assert.equal(before instanceof Date, CAPABILITIES[dialect].restarts);
        if (!before) return;
        const [pod] = await made(wanted.tag);
        await lab.call('POST', `/lab/pods/${pod?.id}/restart`, {});
        const after = (await untilActive(provider, wanted.tag)).startedAt;
        assert.ok(after && after > before, `${String(after)} after ${String(before)}`);
        const again = (await untilActive(provider, wanted.tag)).startedAt;
        assert.deepEqual(again, after);
      });

      it('tells the use of a machine, or that it is not told, as the lab shows it', async () => {
        const provider = lab.of(dialect);
        const wanted = request();
        const { podId } = await provider.allocate(wanted);
        await untilActive(provider, wanted.tag);
        const [pod] = await made(wanted.tag);
        const useNow = async (told: object): Promise<Partial<ListedUse>> => {
          await lab.show(pod?.id ?? '', told);
          return (await provider.listPods()).find((listed) => listed.podId === podId)?.use ?? {};
        };
        const busy = await useNow({ gpuPercent: 64, cpuPercent: 8, memoryPercent: 50 });
        assert.deepEqual(
          [busy.gpuPercent, busy.busiestGpuPercent, busy.cpuPercent, busy.memoryPercent],
          provider.telemetry ? [64, 64, 8, 50] : Array<undefined>(4).fill(undefined),
        );
        for (const untold of [{ gpuPercent: null }, { told: 'absent' }]) {
          assert.equal((await useNow(untold)).busiestGpuPercent ?? null, null, JSON.stringify(untold));
        }
        const stale = await useNow({ told: 'stale' });
        assert.equal((await useNow({ told: 'stale' })).report, stale.report);
        await provider.terminate(podId);
      });

      it('does not take a failure that comes after the making for a refusal', async () => {
        const provider = lab.of(dialect);
        await lab.faults({ failCreateAfterMake: 1 });
        const { tag, ...rest } = request();
        await assert.rejects(provider.allocate({ tag, ...rest }), (error) => isOfKind(error, 'unknown'));
        assert.equal((await provider.find(tag))?.tag, tag);
      });

      for (const [words, faults, kind] of REFUSALS) {
        it(`knows a create that ${words} as ${kind}, and nothing is made`, async () => {
          await lab.faults(faults);
          const { tag, ...rest } = request();
          await assert.rejects(lab.of(dialect).allocate({ tag, ...rest }), (error: ProviderError) => {
            if (kind === 'rate_limited') assert.ok((error.details.retryAfterMs ?? 0) > 0);
            return isOfKind(error, kind);
          });
          assert.deepEqual(await made(tag), []);
        });
      }

      it('refuses a tag that no list would show again, before it asks', async () => {
        await assert.rejects(lab.of(dialect).allocate(request({ tag: 'someone-else-1' })), (error) =>
          isOfKind(error, 'refused'),
        );
      });

      it('tells what a machine costs indeed', async () => {
        const provider = lab.of(dialect);
        await lab.faults({ priceChange: { times: 1, percent: 50 } });
        const { tag, maxPricePerHourCents, ...rest } = request();
        const bought = await provider.allocate({ tag, maxPricePerHourCents, ...rest });
        const told = bought.pricePerHourCents ?? (await provider.find(tag))?.pricePerHourCents;
        assert.equal(told, Math.ceil(maxPricePerHourCents * 1.5));
      });

      it('takes the upstream’s word that a machine is lost', async () => {
        const provider = lab.of(dialect);
        const { tag, ...rest } = request();
        await provider.allocate({ tag, ...rest });
        await untilActive(provider, tag);
        await lab.crashTagged(tag);
        assert.equal((await provider.find(tag))?.status, 'lost');
      });

      it('has the capabilities of its upstream', async () => {
        const provider = lab.of(dialect);
        const has = {
          ...{ balance: 'readBalance' in provider, endBy: 'endBy' in provider },
          ...{ telemetry: provider.telemetry !== undefined, restarts: provider.tellsRestarts === true },
        };
        assert.deepEqual(has, CAPABILITIES[dialect]);
        const balance = await provider.readBalance?.();
        assert.equal(balance?.balanceCents, CAPABILITIES[dialect].balance ? 1_000_000 : undefined);
      });
    });
  }
});
