import assert from 'node:assert/strict';
import { operationLimits } from '../../../domain/operations/limits.js';
import { ageLoops } from '../../support/story/ageing.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { Paying } from '../../support/story/paying.js';
import { until } from '../../support/until.js';

const HOUR = 3_600_000;

describe('the payment processor is away for hours (decision 95)', () => {
  let service: TestService;
  let paying: Paying;
  before(async () => {
    service = await startService();
    paying = new Paying(service);
  });
  afterEach(() => paying.clearFaults());
  after(() => service.stop());

  const stuckOf = (item: string) => service.db('stuck_items').where({ item }).first();
  const redeliver = (): Promise<unknown> => runUpkeepRound(service, 'redeliver');
  const failedAt = async (item: string): Promise<number> =>
    (await stuckOf(item))?.last_failed_at.getTime() ?? 0;

  /** Waits until each item has failed since then and none is being looked at. */
  async function awaitFailed(items: readonly string[], since: readonly number[] = []): Promise<void> {
    await until('each has failed, and its look has ended', async () => {
      const now = await Promise.all(items.map(failedAt));
      const unhandled = await service
        .db('look_signals')
        .whereIn('workflow_id', items)
        .whereNotNull('told_at');
      return unhandled.length === 0 && now.every((at, no) => at > (since[no] ?? 0));
    });
  }

  /** Lets time pass and each item be tried again. */
  async function tryAgainAfter(ms: number, items: readonly string[]): Promise<void> {
    await ageLoops(service.db, ms);
    const before = await Promise.all(items.map(failedAt));
    await redeliver();
    await awaitFailed(items, before);
  }

  /** Counts all tries of the items but the last two. */
  async function haveFailedOften(items: readonly string[]): Promise<void> {
    const attempts = operationLimits.triesUntilSetAside - 2;
    await service.db('stuck_items').whereIn('item', items).update({ attempts });
  }

  async function openPage(): Promise<{ user: SignedIn; topupId: string; sessionId: string; url: string }> {
    const user = await service.signIn();
    return { user, ...(await paying.page(user, 2_500)) };
  }

  it('no payment uses up its tries, and all are credited within minutes of its return', async () => {
    const open = [await openPage(), await openPage(), await openPage()];
    const ids = open.map(({ topupId }) => topupId);
    await paying.order('faults', { kind: 'status', status: 503, times: 1_000_000 });
    for (const { url } of open) await paying.pay(url);
    await awaitFailed(ids);
    // Only the rows grow older, not a worker's memory: a new worker remembers no answer.
    await service.stopWorker();
    await service.startWorker();
    await haveFailedOften(ids);
    for (let hour = 1; hour <= 3; hour += 1) await tryAgainAfter(HOUR, ids);
    for (const id of ids) {
      const stuck = await stuckOf(id);
      assert.equal(stuck?.set_aside_at, null, `${id} after ${stuck?.attempts} tries`);
      assert.match(stuck.last_error, /HTTP 503/);
    }

    await paying.clearFaults();
    await ageLoops(service.db, operationLimits.unansweredRetryMaxMs * 1.2);
    await redeliver();
    for (const { user, topupId } of open) {
      await paying.awaitTopup(topupId, 'succeeded');
      assert.deepEqual(await paying.entries(user), [['processor_topup', 2_500]]);
    }
    await until('nothing is stuck', async () => (await service.db('stuck_items')).length === 0);
    await paying.assertAddsUp();
  });

  it('a payment that alone gets no answer is set aside, while others are paid', async () => {
    const bad = await openPage();
    const path = `/v1/checkout/sessions/${bad.sessionId}`;
    await paying.order('faults', { kind: 'status', status: 500, path, times: 1_000_000 });
    await paying.pay(bad.url);
    await awaitFailed([bad.topupId]);
    await haveFailedOften([bad.topupId]);
    for (let tries = 1; tries <= 2; tries += 1) {
      const good = await openPage();
      await paying.pay(good.url);
      await paying.awaitTopup(good.topupId, 'succeeded');
      await tryAgainAfter(HOUR, [bad.topupId]);
    }
    assert.ok((await stuckOf(bad.topupId))?.set_aside_at, 'set aside');
    await paying.clearFaults();
    await ageLoops(service.db, 2 * HOUR);
    await redeliver();
    await paying.awaitTopup(bad.topupId, 'succeeded');
  });
});
