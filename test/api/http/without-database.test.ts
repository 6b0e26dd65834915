import assert from 'node:assert/strict';
import { ApiClient, startApi, type TestApi } from '../../support/http/api.js';

describe('opening without any database', () => {
  let api: TestApi;
  let caller: ApiClient;

  before(async () => {
    api = await startApi({ databaseUrl: 'postgres://nobody@127.0.0.1:9/none' });
    caller = new ApiClient(api.url, 'A'.repeat(43));
  });
  after(() => api.stop());

  const calls: [path: string, body: object, list: string][] = [
    ['/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 }, '/v1/rentals'],
    ['/v1/billing/checkout', { amountCents: 100 }, '/v1/billing/topups'],
  ];
  for (const [path, body, lookAt] of calls) {
    it(`POST ${path} is a 503 before any handler, and says that nothing was done`, async () => {
      const answer = await caller.post(path, body);
      assert.equal(answer.status, 503);
      assert.deepEqual(answer.body.details, { outcome: 'not_done' });
    });

    it(`POST ${path} with a key can't say so of an earlier request`, async () => {
      const answer = await caller.post(path, body, { 'Idempotency-Key': 'k' });
      assert.equal(answer.status, 503);
      assert.deepEqual(answer.body.details, { outcome: 'unknown', lookAt });
    });
  }

  it('GET /v1/rentals is a 503 as ever', async () => {
    const answer = await caller.get('/v1/rentals');
    assert.deepEqual([answer.status, answer.body.details], [503, undefined]);
  });
});
