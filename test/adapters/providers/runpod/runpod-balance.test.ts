import assert from 'node:assert/strict';
import {
  isOfKind,
  json,
  silence,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../upstream/scripted-upstream.js';

describe('the balance of our account at RunPod', () => {
  let upstream: ScriptedUpstream;
  before(async () => {
    upstream = await startScriptedUpstream('runpod');
  });
  after(() => upstream.stop());

  const answer = (status: number, body: unknown): void => {
    upstream.handlers['POST /graphql'] = json(status, body);
  };
  const myself = (clientBalance: unknown, currentSpendPerHr: unknown): unknown => ({
    data: { myself: { clientBalance, currentSpendPerHr } },
  });

  it('is asked by GraphQL, and comes in whole cents on the careful side', async () => {
    answer(200, myself(435.858, 0.69123));
    assert.deepEqual(await upstream.provider.readBalance?.(), { balanceCents: 43_585, burnCentsPerHour: 70 });
    assert.deepEqual(upstream.sent.at(-1)?.body, {
      query: 'query { myself { clientBalance currentSpendPerHr } }',
    });
    assert.equal(upstream.sent.at(-1)?.headers.authorization, 'Bearer k');
    answer(200, myself(0.29, 1.1));
    assert.deepEqual(await upstream.provider.readBalance?.(), { balanceCents: 29, burnCentsPerHour: 110 });
    answer(200, myself(-3.005, 0));
    assert.deepEqual(await upstream.provider.readBalance?.(), { balanceCents: -301, burnCentsPerHour: 0 });
  });

  const failures: Record<string, [number, unknown]> = {
    'errors with a success': [200, { data: { myself: null }, errors: [{ message: 'not you' }] }],
    'no account': [200, { data: { myself: null } }],
    'no number': [200, myself('NaN', 1)],
    'no spend': [200, myself(1, null)],
    'a server’s fault': [500, {}],
  };
  for (const [what, [status, body]] of Object.entries(failures)) {
    it(`is not known after ${what}`, async () => {
      answer(status, body);
      await assert.rejects(upstream.provider.readBalance!(), (error) => isOfKind(error, 'unknown'));
    });
  }

  it('is waited for no longer than any call', async () => {
    upstream.handlers['POST /graphql'] = silence;
    await assert.rejects(upstream.hasty.readBalance!(), (error) => isOfKind(error, 'unknown'));
  });
});
