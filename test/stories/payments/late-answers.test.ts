import assert from 'node:assert/strict';
import { requestLimits } from '../../../domain/requests/limits.js';
import type { Processor } from '../../../adapters/processor/processor.js';
import type { Answer } from '../../support/http/answers.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';

const answerGraceMs = 500;
/** Room for a busy machine beyond the promised time, in milliseconds. */
const roomMs = 3_000;

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
      settings: { answerGraceMs },
    });
    paying = new Paying(service);
    // The first request of a service is slow by itself.
    await paying.page(await service.signIn(), 700);
  });
  beforeEach(async () => {
    user = await service.signIn();
    await hurry();
  });
  afterEach(async () => {
    await paying.clearFaults();
    await paying.awaitHandled();
    await paying.assertAddsUp();
  });
  after(() => service.stop());

  /** The next requests have the time that the product gives them: what goes well is answered long before it is over. */
  function takeTime(): void {
    promise(requestLimits.answerWithinMs);
  }

  /** The next requests wait a few times as long as a page takes on this machine just now: then they are held up. */
  async function hurry(): Promise<void> {
    takeTime();
    const begunMs = performance.now();
    await paying.page(await service.signIn(), 700);
    promise(Math.max(1_500, 3 * (performance.now() - begunMs)));
  }

  function promise(answerWithinMs: number): void {
    Object.assign(service.api.deps.settings, { answerWithinMs });
  }

  async function checkoutInTime(cents: number): Promise<Answer> {
    const inTimeMs = service.api.deps.settings.answerWithinMs + answerGraceMs + roomMs;
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

  describe('a processor that hangs', () => {
    it('is a 503 in time that names the top-up; then the smallest and the largest amount can be paid', async () => {
      await paying.order('faults', { kind: 'hang', times: 1_000 });
      const { status, body } = await checkoutInTime(700);
      assert.deepEqual([status, body.error], [503, 'temporarily_unavailable']);
      const { status: shown } = (await user.get(`/v1/billing/topups/${body.details.topupId}`)).body;
      assert.equal(shown, 'creating');
      await paying.clearFaults();
      takeTime();
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

  describe('a processor that is slow', () => {
    it('opens a page, and charges a card once', async () => {
      takeTime();
      await paying.order('faults', { kind: 'slow', delayMs: 100, times: 3 });
      assert.equal((await checkoutInTime(700)).body.status, 'requires_payment');
      await paying.clearFaults();
      await paying.saveCard(user);
      // The delay is longer than a call may take: the call is repeated while its key is in use.
      await paying.order('faults', { kind: 'slow', delayMs: 900, path: '/v1/payment_intents' });
      const { status, body } = await checkoutInTime(800);
      assert.deepEqual([status, body.status], [200, 'succeeded']);
      await paying.awaitAvailable(user, 800);
      assert.deepEqual(await charges(), ['succeeded']);
    });
  });
});
