import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { listProviders } from '../../../adapters/postgres/catalog/provider-health.js';
import type { ProviderRow } from '../../../adapters/postgres/rows/tables.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** Four seconds stand for a day; a poll every 20 ms asks for ten lists a second even while nothing waits. */
const QUOTA = { name: 'day', quota: 32, windowSeconds: 4 };
const POLL_MS = 20;

describe('an upstream that tells its quotas and its balance', () => {
  let service: TestService;
  let renting: Renting;
  let listed = 0;

  before(async () => {
    service = await startService({
      ...{ dialects: ['runpod'], pollMs: POLL_MS, requestsPerMinute: 1_000_000 },
      wrapProvider: (provider) => ({
        ...provider,
        async listPods() {
          listed += 1;
          return provider.listPods();
        },
      }),
    });
    renting = new Renting(service);
  });
  after(() => service.stop());

  const refused = async (): Promise<unknown> =>
    (await service.gpus.call('GET', '/lab/faults')).body['refusedByQuotas'];
  const row = async (): Promise<ProviderRow | undefined> => (await listProviders(service.db))[0];

  it('is listed more slowly, never refused, and sells and ends machines meanwhile', async () => {
    const user = await service.signIn(10_000);
    await service.gpus.faults({ quotas: [QUOTA] });
    // The next answer carries the budget's knowledge of the documented windows.
    listed = 0;
    const beganMs = performance.now();
    await sleep(1_000);
    const { id } = await renting.run(user, { familyId: 'rtx-4090', gpuCount: 1 });
    await user.post(`/v1/rentals/${id}/stop`);
    await renting.awaitClosed(id);
    await sleep(Math.max(0, 7_500 - (performance.now() - beganMs)));
    // Each window allows 24 reads and keeps 8 requests; without them there would be ten lists a second.
    assert.equal(await refused(), 0);
    const windows = Math.ceil((performance.now() - beganMs) / 1_000 / QUOTA.windowSeconds);
    assert.ok(listed > 10 && listed <= windows * 24, `${listed} lists in ${windows} windows`);
    assert.equal((await row())?.out_until, null, 'what we put off ourselves takes nothing off sale');
    await service.gpus.faults({ quotas: null });
  });

  it('shows its balance to operators; one that can’t be read disturbs no list', async () => {
    const before = await until('a balance', async () => {
      const found = await row();
      return found?.balance_cents === null ? undefined : found;
    });
    assert.deepEqual([before.balance_cents, before.burn_cents_per_hour], [1_000_000, 0]);
    await service.gpus.faults({ failRequest: { on: ['balance'] }, quotas: [] });
    await service.stopWorker();
    await service.startWorker();
    const from = listed;
    await until('more lists', () => Promise.resolve(listed > from + 5));
    await until('it is told', () =>
      service.api.logged.some(({ msg }) => msg === 'the balance could not be read; asking again'),
    );
    const after = await row();
    assert.deepEqual([after?.failures, after?.out_reason], [0, null]);
    assert.deepEqual(after?.balance_read_at, before.balance_read_at);
  });
});
