import assert from 'node:assert/strict';
import { ProcessorError, type Processor } from '../../../adapters/processor/processor.js';
import { operationLimits } from '../../../domain/operations/limits.js';
import type { Answer } from '../../support/http/answers.js';
import type { SignedIn } from '../../support/http/api.js';
import { getWallet } from '../../support/money/money.js';
import { runOps } from '../../support/ops/ops.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { ageLoops } from '../../support/story/ageing.js';
import { Paying } from '../../support/story/paying.js';
import { until } from '../../support/until.js';

const answerWithinMs = 1_500;
const answerGraceMs = 500;
/** The promised time plus room for a busy machine, in milliseconds. */
const inTimeMs = answerWithinMs + answerGraceMs + 3_000;
const HOUR = 3_600_000;

/** A door that a test holds shut. */
class Door {
  private opened: Promise<void> = Promise.resolve();
  private release: () => void = () => undefined;
  isWaitedFor = false;

  shut(): void {
    this.isWaitedFor = false;
    this.opened = new Promise((resolve) => (this.release = resolve));
  }

  open(): void {
    this.release();
  }

  async pass(): Promise<void> {
    this.isWaitedFor = true;
    await this.opened;
  }
}

/** While it is set, the processor does not know payments of this amount. */
let unknownCents: number | null = null;

describe('while what a caller waits for is late or away', () => {
  let service: TestService;
  let paying: Paying;
  let user: SignedIn;
  const beforePage = new Door();
  const afterPage = new Door();

  const late = (processor: Processor): Processor => ({
    ...processor,
    enabled: true,
    async createCustomer(input) {
      const customer = await processor.createCustomer(input);
      await beforePage.pass();
      return customer;
    },
    async getPayment(id) {
      const payment = await processor.getPayment(id);
      if (payment.amountReceivedCents !== unknownCents) return payment;
      throw new ProcessorError('refused', 'no such payment', { code: 'resource_missing', status: 404 });
    },
    async createCheckoutSession(input) {
      const session = await processor.createCheckoutSession(input);
      await afterPage.pass();
      return session;
    },
  });

  before(async () => {
    service = await startService({
      wrapProcessor: late,
      processorTimeoutMs: 600,
      settings: { answerWithinMs, answerGraceMs },
    });
    paying = new Paying(service);
  });
  beforeEach(async () => {
    user = await service.signIn();
  });
  afterEach(async () => {
    await paying.clearFaults();
    await paying.awaitHandled();
    await paying.assertAddsUp();
  });
  after(() => service.stop());

  async function checkoutInTime(cents: number): Promise<Answer> {
    const begunMs = performance.now();
    const answer = await paying.checkout(user, cents);
    const tookMs = performance.now() - begunMs;
    assert.ok(tookMs < inTimeMs, `answered after ${tookMs} ms`);
    return answer;
  }

  /** The charges of the saved card, whose user has no other payments. */
  async function charges(): Promise<string[]> {
    const { payment_intents: intents } = await paying.state();
    return intents.filter(({ metadata }) => metadata['user_id'] === user.user.id).map(({ status }) => status);
  }

  const stuckOf = (item: string) => service.db('stuck_items').where({ item }).first();

  describe('a page that is late', () => {
    /** The pages that the processor has opened for a top-up. */
    async function pagesOf(topupId: string): Promise<number> {
      const { requests } = await paying.state();
      return requests.filter(({ idempotencyKey }) => idempotencyKey === `checkout:${topupId}`).length;
    }

    it('says that nothing was done, and then no page opens', async () => {
      beforePage.shut();
      const { status, body } = await paying.checkout(user, 700);
      assert.equal(status, 503);
      const { topupId } = body.details;
      assert.deepEqual(body.details, { topupId, outcome: 'not_done' });
      assert.ok(beforePage.isWaitedFor, 'it was about to ask for the page');
      beforePage.open();
      const ended = await paying.awaitTopup(topupId, 'failed');
      assert.equal(ended.session_id, null);
      assert.equal(await pagesOf(topupId), 0);
    });

    it('says that it is not known when the page was asked for, and the top-up tells of it', async () => {
      afterPage.shut();
      const { status, body } = await paying.checkout(user, 700);
      assert.equal(status, 503);
      const { topupId } = body.details;
      const lookAt = `/v1/billing/topups/${topupId}`;
      assert.deepEqual(body.details, { topupId, outcome: 'unknown', lookAt });
      afterPage.open();
      const { checkout_url: url } = await paying.awaitTopup(topupId, 'requires_payment');
      assert.equal((await user.get(lookAt)).body.checkoutUrl, url);
      await paying.pay(url ?? '');
      await paying.awaitAvailable(user, 700);
    });
  });

  it('a processor that is slow opens a page, and charges a card once', async () => {
    await paying.order('faults', { kind: 'slow', delayMs: 300, times: 3 });
    assert.equal((await checkoutInTime(700)).body.status, 'requires_payment');
    await paying.clearFaults();
    await paying.saveCard(user);
    // The delay is longer than a call may take: the call is repeated while its key is in use.
    await paying.order('faults', { kind: 'slow', delayMs: 900, path: '/v1/payment_intents' });
    const { status } = await checkoutInTime(800);
    assert.equal(status, 200);
    await paying.awaitAvailable(user, 800);
    assert.deepEqual(await charges(), ['succeeded']);
  });

  describe('a processor that hangs', () => {
    it('is a 503 in time that names the top-up; then the smallest and the largest amount can be paid', async () => {
      await paying.order('faults', { kind: 'hang', times: 1_000 });
      const { status, body } = await checkoutInTime(700);
      assert.deepEqual([status, body.error], [503, 'temporarily_unavailable']);
      const { status: shown } = (await user.get(`/v1/billing/topups/${body.details.topupId}`)).body;
      assert.equal(shown, 'creating');
      await paying.clearFaults();
      for (const cents of [100, 500_000]) {
        const { url } = await paying.page(user, cents);
        await paying.pay(url);
      }
      await paying.awaitAvailable(user, 500_100);
    });

    it('charges a card once: "processing" in time, and credited when it is well again', async () => {
      await paying.saveCard(user);
      await paying.order('faults', { path: '/v1/payment_intents', kind: 'hang', times: 1_000 });
      const { status, body } = await checkoutInTime(800);
      assert.deepEqual([status, body.status, body.processorChargeId], [200, 'processing', null]);
      assert.deepEqual(await paying.entries(user), []);
      await paying.clearFaults();
      await paying.awaitTopup(body.topupId, 'succeeded');
      assert.deepEqual(await charges(), ['succeeded']);
      assert.deepEqual(await paying.entries(user), [['processor_topup', 800]]);
    });
  });

  describe('a processor that is away for hours (decision 95)', () => {
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

    async function openPage(): Promise<{ payer: SignedIn; topupId: string; sessionId: string; url: string }> {
      const payer = await service.signIn();
      return { payer, ...(await paying.page(payer, 2_500)) };
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
      for (const { payer, topupId } of open) {
        await paying.awaitTopup(topupId, 'succeeded');
        assert.deepEqual(await paying.entries(payer), [['processor_topup', 2_500]]);
      }
      await until('nothing is stuck', async () => (await service.db('stuck_items')).length === 0);
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

  async function signalsOf(workflowId: string): Promise<number> {
    const { events } = await service.temporal.workflow.getHandle(workflowId).fetchHistory();
    return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes).length;
  }

  it('an event about what the processor does not know is set aside with its reason, and payments behind it go on', async () => {
    unknownCents = 666;
    const payer = await service.signIn();
    const { id: unknown } = await service.stripe.paymentIntents.create({
      ...{ amount: 666, currency: 'usd', payment_method: 'pm_card_visa', confirm: true },
      ...{ payment_method_types: ['card'], metadata: { user_id: payer.user.id } },
    });
    const stuck = await until('it is set aside', async () => {
      const row = await stuckOf(unknown);
      return row?.set_aside_at ? row : undefined;
    });
    assert.match(stuck.last_error, /^no such payment resource_missing HTTP 404$/);
    const { topupId, url } = await paying.page(user, 2_500);
    await paying.pay(url);
    await paying.awaitTopup(topupId, 'succeeded');
    const hasLooked = async () =>
      (await service.db('look_signals').where({ workflow_id: unknown }).first())?.told_at === null;
    await until('its look has ended', hasLooked);
    const before = await signalsOf(unknown);
    for (let hour = 1; hour <= 2; hour += 1) {
      await ageLoops(service.db, 70 * 60_000);
      for (let round = 0; round < 10; round += 1) await runUpkeepRound(service, 'redeliver');
      await until('it has looked', async () => ((await stuckOf(unknown))?.attempts ?? 0) > hour);
      await until('its look has ended', hasLooked);
    }
    assert.ok((await signalsOf(unknown)) <= before + 2, 'twenty rounds of the loop, two hours: two signals');

    unknownCents = null;
    const retry = ['set-aside', 'retry', '--item', unknown, '--by', 'ada', '--reason', 'it is known now'];
    const { code, out, err } = await runOps({ databaseUrl: service.databaseUrl }, ...retry);
    assert.equal(code, 0, `${out}${err}`);
    await until('it is credited', async () => {
      await runUpkeepRound(service, 'redeliver');
      return (await getWallet(service.db, payer.user.id)).available_cents === 666;
    });
    await until('it is stuck no more', async () => (await stuckOf(unknown)) === undefined);
  });

  it('a worker that comes too late never opens the rental that was answered with a 503', async () => {
    await service.stopWorker();
    const renter = await service.signIn(10_000);
    const answer = await renter.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 });
    assert.equal(answer.status, 503);
    await service.startWorker();
    const { workflow } = service.temporal;
    const outcome: unknown = await workflow.getHandle(answer.body.details.rentalId).result();
    assert.deepEqual(outcome, { outcome: 'refused', code: 'temporarily_unavailable' });
    assert.deepEqual((await renter.get('/v1/rentals')).body.rentals, []);
    assert.equal((await renter.get('/v1/billing/balance')).body.reservedCents, 0);
  });
});
