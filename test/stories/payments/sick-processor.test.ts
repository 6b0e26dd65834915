import assert from 'node:assert/strict';
import type { Answer } from '../../support/http/answers.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';

const answerWithinMs = 1_500;
const answerGraceMs = 500;
/** The promised time plus room for a busy machine, in milliseconds. */
const inTimeMs = answerWithinMs + answerGraceMs + 3_000;

describe('while the payment processor is', () => {
  let service: TestService;
  let paying: Paying;
  let user: SignedIn;

  before(async () => {
    service = await startService({
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

  describe('slow', () => {
    it('a page is opened, and a card is charged once', async () => {
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
  });

  const sick: Record<string, Record<string, unknown>> = {
    hanging: { kind: 'hang', times: 1_000 },
    'answering HTML': { kind: 'html', times: 1_000 },
    'cutting every connection': { kind: 'reset', times: 1_000 },
  };
  for (const [how, fault] of Object.entries(sick)) {
    describe(how, () => {
      it('a page is a 503 in time that names the top-up; then one can be had again', async () => {
        await paying.order('faults', fault);
        const { status, body } = await checkoutInTime(700);
        assert.deepEqual([status, body.error], [503, 'temporarily_unavailable']);
        const { status: shown } = (await user.get(`/v1/billing/topups/${body.details.topupId}`)).body;
        assert.equal(shown, 'creating');
        await paying.clearFaults();
        const { url } = await paying.page(user, 700);
        await paying.pay(url);
        await paying.awaitAvailable(user, 700);
      });

      it('a card is charged once: "processing" in time, and credited when it is well again', async () => {
        await paying.saveCard(user);
        await paying.order('faults', { path: '/v1/payment_intents', ...fault });
        const { status, body } = await checkoutInTime(800);
        assert.deepEqual([status, body.status, body.processorChargeId], [200, 'processing', null]);
        assert.deepEqual(await paying.entries(user), []);
        await paying.clearFaults();
        await paying.awaitTopup(body.topupId, 'succeeded');
        assert.deepEqual(await charges(), ['succeeded']);
        assert.deepEqual(await paying.entries(user), [['processor_topup', 800]]);
      });
    });
  }

  it('well again, the smallest and the largest amount can be paid', async () => {
    for (const cents of [100, 500_000]) {
      const { url } = await paying.page(user, cents);
      await paying.pay(url);
    }
    await paying.awaitAvailable(user, 500_100);
  });
});
