import assert from 'node:assert/strict';
import { createLambdaProvider } from '../../../../adapters/providers/lambda/lambda.js';
import { shared } from '../../../../adapters/providers/lambda/shared-list.js';
import type { ProviderError } from '../../../../adapters/providers/provider.js';
import {
  API_KEY,
  lambdaRequestOf,
  startLivingLab,
  type LivingLab,
} from '../../../lab/provider/living-lab.js';
import { isOfKind, json, startScriptedUpstream } from '../upstream/scripted-upstream.js';
import { lambdaTypes } from '../contracts/lambda-examples.js';
import { turnBudget } from '../upstream/turn-budget.js';

describe('the adapter of Lambda', () => {
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  after(() => lab.stop());
  afterEach(() => lab.clearFaults());

  const another = (budget = turnBudget()) =>
    createLambdaProvider({
      ...{ code: 'other', url: `${lab.url()}/lambda`, apiKey: API_KEY, deployment: 'test' },
      budget,
    });

  it('registers one key for all machines of the installation, whoever launches them', async () => {
    await lab.lambda.allocate(lambdaRequestOf());
    await lab.lambda.allocate(lambdaRequestOf());
    await another().allocate(lambdaRequestOf());
    const { lambdaKeys } = (await lab.state()) as unknown as { lambdaKeys: { name: string }[] };
    assert.deepEqual(
      lambdaKeys.map(({ name }) => name),
      ['test-machines'],
    );
  });

  it('makes its key anew after somebody has removed it from the account', async () => {
    const upstream = await startScriptedUpstream('lambda');
    try {
      const key = { id: 'k', name: 'test-machines', public_key: 'ssh-ed25519 AAAA' };
      const launch = 'POST /api/v1/instance-operations/launch';
      upstream.handlers['GET /api/v1/ssh-keys'] = json(200, { data: [key] });
      const gone = { error: { code: 'global/object-does-not-exist', message: 'no such key' } };
      upstream.handlers[launch] = json(404, gone);
      await assert.rejects(upstream.provider.allocate(lambdaRequestOf()), (error) =>
        isOfKind(error, 'no_capacity'),
      );
      upstream.handlers['GET /api/v1/ssh-keys'] = json(200, { data: [] });
      upstream.handlers['POST /api/v1/ssh-keys'] = json(200, { data: key });
      upstream.handlers[launch] = json(200, { data: { instance_ids: ['i1'] } });
      assert.equal((await upstream.provider.allocate(lambdaRequestOf())).podId, 'i1');
    } finally {
      await upstream.stop();
    }
  });

  it('launches one machine in twelve seconds; another one waits for its turn elsewhere', async () => {
    await lab.faults({ paced: true });
    const provider = another();
    await provider.allocate(lambdaRequestOf());
    await assert.rejects(provider.allocate(lambdaRequestOf()), (error: ProviderError) => {
      const { outOfTurn, retryAfterMs = 0 } = error.details;
      assert.ok(outOfTurn === true && retryAfterMs > 5_000 && retryAfterMs <= 12_500, `${retryAfterMs} ms`);
      return isOfKind(error, 'rate_limited');
    });
  });

  it('ends machines in the seconds that reads leave', async () => {
    const { podId } = await lab.lambda.allocate(lambdaRequestOf());
    const provider = another();
    const begun = performance.now();
    // The first read goes at once, the second after two seconds; the end goes between them.
    const reads = [provider.listPods(), provider.listOffers()];
    await new Promise((resolve) => setTimeout(resolve, 50));
    await provider.terminate(podId);
    assert.ok(performance.now() - begun < 2_000, `${performance.now() - begun} ms`);
    await Promise.all(reads);
  });

  it('reads its list once for all who ask, and never an older one than the question', async () => {
    let reads = 0;
    const released: (() => void)[] = [];
    const list = shared(async () => {
      reads += 1;
      const number = reads;
      await new Promise<void>((resolve) => released.push(resolve));
      return number;
    });
    const first = list();
    await new Promise(setImmediate);
    const later = [list(), list(), list()];
    released[0]?.();
    assert.equal(await first, 1);
    await new Promise(setImmediate);
    released[1]?.();
    assert.deepEqual(await Promise.all(later), [2, 2, 2]);
    const patient = list({ untilMs: Infinity });
    await new Promise(setImmediate);
    released[2]?.();
    assert.equal(await patient, 3);
    const hasty = list({ untilMs: performance.now() + 20 });
    await assert.rejects(hasty, (error) => isOfKind(error, 'unknown'));
  });

  it('sells a region that is listed twice once', async () => {
    const upstream = await startScriptedUpstream('lambda');
    try {
      const { gpu_1x_h100_sxm5: type } = lambdaTypes;
      const [texas] = type.regions_with_capacity_available;
      const twice = { ...type, regions_with_capacity_available: [texas, texas] };
      upstream.handlers['GET /api/v1/instance-types'] = json(200, { data: { twice } });
      const offers = await upstream.provider.listOffers();
      assert.deepEqual(
        offers.map(({ offerId }) => offerId),
        ['gpu_1x_h100_sxm5/us-south-1'],
      );
    } finally {
      await upstream.stop();
    }
  });

  it('has an account that is at its quota mended by operators', async () => {
    const upstream = await startScriptedUpstream('lambda');
    try {
      const key = { id: 'k', name: 'test-machines', public_key: 'ssh-ed25519 AAAA' };
      upstream.handlers['GET /api/v1/ssh-keys'] = json(200, { data: [key] });
      const quota = { error: { code: 'global/quota-exceeded', message: 'Quota exceeded.' } };
      upstream.handlers['POST /api/v1/instance-operations/launch'] = json(400, quota);
      await assert.rejects(upstream.provider.allocate(lambdaRequestOf()), (error: ProviderError) => {
        assert.equal(error.details.unfitAccount, true);
        assert.match(error.message, /Quota exceeded/);
        return isOfKind(error, 'refused');
      });
    } finally {
      await upstream.stop();
    }
  });
});
