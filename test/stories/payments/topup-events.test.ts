import assert from 'node:assert/strict';
import Stripe from 'stripe';
import { newId } from '../../../adapters/ids.js';
import type { Processor } from '../../../adapters/processor/processor.js';
import { webhookPath } from '../../../api/webhook/path.js';
import { webhookSecret, type SignedIn } from '../../support/http/api.js';
import type { Answer } from '../../support/http/answers.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runBackfill } from '../../support/service/upkeep-round.js';
import { Paying, testCards } from '../../support/story/paying.js';
import { until } from '../../support/until.js';

/** While true, the processor lists an event of a kind that the database can't hold. */
let listsOddEvent = false;

function withOddEvent(processor: Processor): Processor {
  return {
    ...processor,
    async listEvents(input) {
      const page = await processor.listEvents(input);
      if (!listsOddEvent || input.after !== null) return page;
      const odd = { id: 'evt_odd', kind: 'odd\0', livemode: false, apiVersion: null, object: {} };
      return { ...page, events: [{ ...odd, createdAt: new Date() }, ...page.events] };
    },
  };
}

describe('a top-up on the payment page', () => {
  let service: TestService;
  let paying: Paying;
  let user: SignedIn;

  before(async () => {
    service = await startService({ wrapProcessor: withOddEvent });
    paying = new Paying(service);
  });
  beforeEach(async () => {
    user = await service.signIn();
  });
  afterEach(async () => {
    await paying.clearFaults();
    await paying.awaitHandled();
  });
  after(() => service.stop());

  /** Delivers an event of ours, signed as the processor signs. */
  function deliver(kind: string, object: Record<string, unknown>): Promise<Answer> {
    const payload = JSON.stringify({
      ...{ id: `evt_${newId('top')}`, object: 'event', type: kind, created: Math.floor(Date.now() / 1000) },
      ...{ livemode: false, api_version: Stripe.API_VERSION, data: { object } },
    });
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret });
    return service.api.stranger().send('POST', webhookPath, payload, {
      ...{ 'Content-Type': 'application/json', 'Stripe-Signature': signature },
    });
  }

  /** A payment at the processor with metadata of its own, whose events are lost. */
  async function strayPayment(metadata: Record<string, string>, cents = 600): Promise<Stripe.PaymentIntent> {
    await paying.order('faults', { kind: 'event_drop', times: 3 });
    const intent = await service.stripe.paymentIntents.create({
      ...{ amount: cents, currency: 'usd', payment_method: 'pm_card_visa', payment_method_types: ['card'] },
      ...{ confirm: true, metadata },
    });
    await paying.clearFaults();
    return intent;
  }

  const fields = (intent: Stripe.PaymentIntent) => intent as unknown as Record<string, unknown>;

  it('that is paid twice credits twice', async () => {
    const { url, topupId, sessionId } = await paying.page(user, 1_000);
    await paying.pay(url);
    await paying.awaitAvailable(user, 1_000);
    await paying.order(`checkout_sessions/${sessionId}/pay_again`);
    await paying.awaitAvailable(user, 2_000);
    const topup = await paying.topup(topupId);
    assert.deepEqual([topup.status, topup.credited_cents], ['succeeded', 2_000]);
    await paying.assertAddsUp();
  });

  for (const [how, faults] of Object.entries({
    'come twice': [{ kind: 'event_duplicate', times: 10 }],
    'come in the wrong order': [{ kind: 'event_reorder', type: 'payment_intent.succeeded' }],
    'are all lost but one': [{ kind: 'event_drop', type: 'checkout.session.completed' }],
    'come late': [{ kind: 'event_delay', delayMs: 200, times: 5 }],
  })) {
    it(`is credited once when its events ${how}`, async () => {
      for (const fault of faults) await paying.order('faults', fault);
      const { url } = await paying.page(user, 1_500);
      await paying.pay(url);
      await paying.awaitAvailable(user, 1_500);
      await paying.awaitHandled();
      assert.deepEqual(await paying.entries(user), [['processor_topup', 1_500]]);
      await paying.assertAddsUp();
    });
  }

  it('is credited once when ten deliveries come at once', async () => {
    const { url, topupId } = await paying.page(user, 1_500);
    await paying.order('faults', { kind: 'event_drop', times: 20 });
    await paying.pay(url);
    await paying.clearFaults();
    const { payment_intents: intents } = await paying.state();
    const intent = intents.find(({ metadata }) => metadata['topup_id'] === topupId)!;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => deliver('payment_intent.succeeded', fields(intent))),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    await paying.awaitAvailable(user, 1_500);
    await paying.awaitHandled();
    assert.deepEqual(await paying.entries(user), [['processor_topup', 1_500]]);
  });

  it('is credited what was really paid, whatever its event says', async () => {
    const { url, topupId } = await paying.page(user, 1_500);
    await paying.order('faults', { kind: 'event_drop', times: 20 });
    await paying.pay(url);
    await paying.clearFaults();
    const { payment_intents: intents } = await paying.state();
    const intent = intents.find(({ metadata }) => metadata['topup_id'] === topupId)!;
    await deliver('payment_intent.succeeded', { ...fields(intent), amount_received: 999_999 });
    await paying.awaitAvailable(user, 1_500);
  });

  it('whose bank takes its time is credited when it has decided', async () => {
    const { url, topupId } = await paying.page(user, 1_000);
    await paying.order('faults', { kind: 'processing' });
    await paying.pay(url);
    await paying.awaitTopup(topupId, 'processing');
    const { payment_intents: intents } = await paying.state();
    const intent = intents.find(({ metadata }) => metadata['topup_id'] === topupId)!;
    await paying.order(`payment_intents/${intent.id}/finish`);
    await paying.awaitAvailable(user, 1_000);
  });

  it('whose bank refuses in the end has failed', async () => {
    const { url, topupId } = await paying.page(user, 1_000);
    await paying.order('faults', { kind: 'processing' });
    await paying.pay(url);
    await paying.awaitTopup(topupId, 'processing');
    const { payment_intents: intents } = await paying.state();
    const intent = intents.find(({ metadata }) => metadata['topup_id'] === topupId)!;
    await paying.order(`payment_intents/${intent.id}/finish`, { outcome: 'decline' });
    await paying.awaitTopup(topupId, 'failed');
    assert.deepEqual(await paying.entries(user), []);
  });

  it('stays open after a decline on the page, and is credited when another card pays', async () => {
    const { url } = await paying.page(user, 1_000);
    await paying.pay(url, testCards.declined);
    await paying.awaitHandled();
    await paying.pay(url);
    await paying.awaitAvailable(user, 1_000);
  });

  it('that has expired is closed, and still credited when it was paid after all', async () => {
    const { topupId, sessionId } = await paying.page(user, 1_000);
    await service.stripe.checkout.sessions.expire(sessionId);
    await paying.awaitTopup(topupId, 'expired');
    const intent = await strayPayment({ user_id: user.user.id, topup_id: topupId }, 1_000);
    await deliver('payment_intent.succeeded', fields(intent));
    await paying.awaitAvailable(user, 1_000);
    assert.equal((await paying.topup(topupId)).status, 'succeeded');
  });

  it('is credited by the backfill when none of its events ever came', async () => {
    await paying.order('faults', { kind: 'event_drop', times: 100 });
    const { url } = await paying.page(user, 1_100);
    await paying.pay(url);
    await service.db('event_cursor').update({ seen_until: new Date(Date.now() - 3600_000) });
    const first = await runBackfill(service);
    assert.ok(first.missed > 0);
    await paying.awaitAvailable(user, 1_100);
    const second = await runBackfill(service);
    assert.equal(second.missed, 0);
  });

  it('whose events are listed behind one that nobody can keep is credited, and the list is not read for ever', async () => {
    listsOddEvent = true;
    try {
      await paying.order('faults', { kind: 'event_drop', times: 100 });
      await paying.pay((await paying.page(user, 1_200)).url);
      const hourAgo = new Date(Date.now() - 3600_000);
      await service.db('event_cursor').update({ seen_until: hourAgo });
      await runBackfill(service);
      await paying.awaitAvailable(user, 1_200);
      const cursor = await service.db('event_cursor').first('seen_until');
      assert.ok(cursor!.seen_until > hourAgo, 'the next time begins later');
      const alarm = service.api.logged.find((line) => line['eventId'] === 'evt_odd');
      assert.equal(alarm?.['level'], 50);
    } finally {
      listsOddEvent = false;
    }
  });

  describe('a payment that names', () => {
    it('only a user of ours is credited to him once', async () => {
      const intent = await strayPayment({ user_id: user.user.id });
      await deliver('payment_intent.succeeded', fields(intent));
      await deliver('checkout.session.completed', {
        ...{ id: 'cs_1', object: 'checkout.session', payment_intent: intent.id },
        metadata: { user_id: user.user.id },
      });
      await paying.awaitAvailable(user, 600);
      await paying.awaitHandled();
      assert.deepEqual(await paying.entries(user), [['processor_topup', 600]]);
    });

    it('a top-up that this database does not have is credited to its user', async () => {
      const intent = await strayPayment({ user_id: user.user.id, topup_id: newId('top') });
      await deliver('payment_intent.succeeded', fields(intent));
      await paying.awaitAvailable(user, 600);
    });

    it('a user that does not exist is put aside for operators, loudly', async () => {
      const intent = await strayPayment({ user_id: newId('usr') });
      await deliver('payment_intent.succeeded', fields(intent));
      const parked = await until('it is parked', () =>
        service.db('parked_payments').where({ payment_id: intent.id }).first(),
      );
      assert.deepEqual([parked.amount_cents, parked.currency], [600, 'usd']);
      const alarm = service.api.logged.find((line) => line['paymentId'] === intent.id);
      assert.equal(alarm?.['level'], 50);
    });

    it('another user than its top-up’s is put aside', async () => {
      const { topupId } = await paying.page(user, 600);
      const other = await service.signIn();
      const intent = await strayPayment({ user_id: other.user.id, topup_id: topupId });
      await deliver('payment_intent.succeeded', fields(intent));
      await until('it is parked', () =>
        service.db('parked_payments').where({ payment_id: intent.id }).first(),
      );
      assert.deepEqual(await paying.entries(other), []);
      assert.match((await paying.topup(topupId)).error!, /operator/);
    });
  });
});
