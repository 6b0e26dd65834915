import assert from 'node:assert/strict';
import Stripe from 'stripe';
import { newId } from '../../../adapters/ids.js';
import { ProcessorError, type Processor } from '../../../adapters/processor/processor.js';
import { processorEventsPath } from '../../../api/processor-events/path.js';
import { operationLimits } from '../../../domain/operations/limits.js';
import { getWallet } from '../../support/money/money.js';
import { runOps } from '../../support/ops/ops.js';
import { ageLoops } from '../../support/story/ageing.js';
import { webhookSecret, type SignedIn } from '../../support/http/api.js';
import type { Answer } from '../../support/http/answers.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runBackfill, runUpkeepRound } from '../../support/service/upkeep-round.js';
import { Paying, testCards } from '../../support/story/paying.js';
import { until } from '../../support/until.js';

const HOUR = 3_600_000;

/** While it is set, the processor does not know payments of this amount. */
let unknownCents: number | null = null;
/** While true, the processor lists an event that the database can't hold, and one of a kind that it never sends. */
let listsOddEvent = false;

function withOdds(processor: Processor): Processor {
  return {
    ...processor,
    async getPayment(id) {
      const payment = await processor.getPayment(id);
      if (payment.amountReceivedCents !== unknownCents) return payment;
      throw new ProcessorError('refused', 'no such payment', { code: 'resource_missing', status: 404 });
    },
    async listEvents(input) {
      const page = await processor.listEvents(input);
      if (!listsOddEvent || input.after !== null) return page;
      const listed = { livemode: false, apiVersion: null, object: {}, createdAt: new Date() };
      const odd = { ...listed, id: 'evt_odd', kind: 'payment_intent.succeeded', apiVersion: 'odd\0' };
      const unsent = { ...listed, id: 'evt_unsent', kind: 'charge.succeeded' };
      return { ...page, events: [odd, unsent, ...page.events] };
    },
  };
}

describe('a top-up', () => {
  let service: TestService;
  let paying: Paying;
  let user: SignedIn;

  before(async () => {
    service = await startService({ wrapProcessor: withOdds, pollMs: 1_000 });
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

  /** Delivers an event of ours, signed as the processor signs. */
  function deliver(kind: string, object: Record<string, unknown>): Promise<Answer> {
    const payload = JSON.stringify({
      ...{ id: `evt_${newId('top')}`, object: 'event', type: kind, created: Math.floor(Date.now() / 1000) },
      ...{ livemode: false, api_version: Stripe.API_VERSION, data: { object } },
    });
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret });
    return service.api.stranger().send('POST', processorEventsPath, payload, {
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

  it('on the payment page is credited once, with a receipt that is mailed once, though answers about its page were lost', async () => {
    await paying.order('faults', { kind: 'lost', method: 'POST', path: '/v1/checkout/sessions' });
    const answer = await paying.checkout(user, 2_500, { 'Idempotency-Key': 'pay' });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual(Object.keys(answer.body).sort(), ['checkoutUrl', 'sessionId', 'status', 'topupId']);
    const again = await paying.checkout(user, 2_500, { 'Idempotency-Key': 'pay' });
    assert.deepEqual(again.body, answer.body);
    const { topupId, checkoutUrl: url, sessionId } = answer.body;
    const { checkout_sessions: sessions } = await paying.state();
    const ours = sessions.filter(({ metadata }) => metadata?.['topup_id'] === topupId);
    const ids = ours.map(({ id }) => id);
    assert.deepEqual(ids, [sessionId]);
    assert.equal(await paying.pay(url, testCards.declined), 402);
    assert.equal(await paying.pay(url), 303);
    const paid = await paying.awaitTopup(topupId, 'succeeded');
    const outcome: unknown = await service.temporal.workflow.getHandle(topupId).result();
    assert.deepEqual(outcome, { outcome: 'succeeded' });
    assert.deepEqual(await paying.entries(user), [['processor_topup', 2_500]]);
    const shown = (await user.get(`/v1/billing/topups/${topupId}`)).body;
    assert.deepEqual([shown.status, shown.creditedCents], ['succeeded', 2_500]);
    const [entry] = (await user.get('/v1/billing/ledger')).body.entries;
    assert.equal(entry?.processorChargeId, shown.processorChargeId);
    assert.equal((await fetch(paid.receipt_url ?? '')).status, 200);
    const sent = await until('the receipt came', async () => {
      const got = await inbox();
      return got.length > 0 && got;
    });
    assert.deepEqual(
      sent.map(({ subject }) => subject),
      ['Your top-up of $25.00'],
    );
    assert.ok(sent[0]?.text.includes('Your receipt is attached.'));
  });

  async function inbox(): Promise<{ subject: string; text: string }[]> {
    const url = `${service.inbox.url}/mails?to=${user.user.email}`;
    return ((await (await fetch(url)).json()) as { mails: { subject: string; text: string }[] }).mails;
  }

  it('that has expired is over, and still credited when it was paid after all', async () => {
    const { topupId, sessionId } = await paying.page(user, 1_000);
    await service.stripe.checkout.sessions.expire(sessionId);
    const outcome: unknown = await service.temporal.workflow.getHandle(topupId).result();
    assert.deepEqual(outcome, { outcome: 'expired' });
    assert.equal((await paying.topup(topupId)).status, 'expired');
    const intent = await strayPayment({ user_id: user.user.id, topup_id: topupId }, 1_000);
    await deliver('payment_intent.succeeded', fields(intent));
    await paying.awaitAvailable(user, 1_000);
    assert.equal((await paying.topup(topupId)).status, 'succeeded');
  });

  it('is credited once what was really paid, when ten deliveries come at once, whatever they say', async () => {
    const { url, topupId } = await paying.page(user, 1_500);
    await paying.order('faults', { kind: 'event_drop', times: 20 });
    await paying.pay(url);
    await paying.clearFaults();
    const { payment_intents: intents } = await paying.state();
    const intent = intents.find(({ metadata }) => metadata['topup_id'] === topupId)!;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        deliver('payment_intent.succeeded', { ...fields(intent), amount_received: 999_999 }),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    await paying.awaitAvailable(user, 1_500);
    await paying.awaitHandled();
    assert.deepEqual(await paying.entries(user), [['processor_topup', 1_500]]);
  });

  it('is credited by the backfill when none of its events ever came, behind one that nobody can keep', async () => {
    listsOddEvent = true;
    try {
      await paying.order('faults', { kind: 'event_drop', times: 100 });
      await paying.pay((await paying.page(user, 1_200)).url);
      const hourAgo = new Date(Date.now() - 3600_000);
      await service.db('event_cursor').update({ seen_until: hourAgo });
      assert.ok((await runBackfill(service)).missed > 0);
      await paying.awaitAvailable(user, 1_200);
      const cursor = await service.db('event_cursor').first('seen_until');
      assert.ok(cursor!.seen_until > hourAgo, 'the next time begins later');
      assert.equal(service.api.logged.find((line) => line['eventId'] === 'evt_odd')?.['level'], 50);
      // No webhook brings what is of such a kind: it never had to arrive.
      assert.equal(await service.db('processor_events').where({ id: 'evt_unsent' }).first('id'), undefined);
      assert.equal((await runBackfill(service)).missed, 0);
    } finally {
      listsOddEvent = false;
    }
  });

  it('is credited once by a payment that names only a user of ours', async () => {
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

  describe('by the saved card', () => {
    /** The payments that the processor made for a top-up. */
    async function paymentsOf(topupId: string): Promise<string[]> {
      const { payment_intents: intents } = await paying.state();
      return intents.filter(({ metadata }) => metadata['topup_id'] === topupId).map(({ status }) => status);
    }

    it('is charged at once, credited once, and receipted', async () => {
      await paying.saveCard(user);
      const answer = await paying.checkout(user, 1_234);
      assert.equal(answer.status, 200);
      const topup = await paying.topup(answer.body.topupId);
      assert.deepEqual(answer.body, {
        checkoutUrl: null,
        sessionId: null,
        topupId: topup.id,
        status: 'succeeded',
        amountCents: 1_234,
        processorChargeId: topup.charge_id,
      });
      await paying.awaitHandled();
      assert.deepEqual(await paying.entries(user), [['processor_topup', 1_234]]);
      assert.deepEqual(await paying.mails(user), ['Your top-up of $12.34']);
      assert.deepEqual(await paymentsOf(topup.id), ['succeeded']);
      const shown = (await user.get(`/v1/billing/topups/${topup.id}`)).body;
      assert.deepEqual([shown.status, shown.creditedCents], ['succeeded', 1_234]);
    });

    it('gives the bank’s word for a decline, the same for the same Idempotency-Key', async () => {
      await paying.saveCard(user, 'pm_card_chargeCustomerFail');
      const first = await paying.checkout(user, 500, { 'Idempotency-Key': 'again' });
      const second = await paying.checkout(user, 500, { 'Idempotency-Key': 'again' });
      assert.deepEqual([first.status, first.body.error], [402, 'card_declined']);
      assert.deepEqual([second.status, second.body.details], [402, first.body.details]);
      assert.equal(second.headers.get('idempotent-replayed'), 'true');
      const [topup, ...others] = await service.db('topups').where({ user_id: user.user.id });
      assert.deepEqual(first.body.details, { declineCode: 'generic_decline', topupId: topup?.id });
      assert.deepEqual(others, []);
      const shown = (await user.get(`/v1/billing/topups/${topup?.id}`)).body;
      assert.deepEqual([shown.status, shown.declineCode], ['failed', 'generic_decline']);
    });

    it('becomes a payment page when the bank wants authentication, and nothing is charged before', async () => {
      await paying.saveCard(user);
      await paying.order('faults', { kind: 'decline', declineCode: 'authentication_required' });
      const { status, body } = await paying.checkout(user, 900);
      assert.deepEqual([status, body.status], [200, 'requires_payment'], JSON.stringify(body));
      assert.deepEqual(await paymentsOf(body.topupId), ['canceled']);
      await paying.pay(body.checkoutUrl);
      await paying.awaitAvailable(user, 900);
      assert.deepEqual((await paymentsOf(body.topupId)).sort(), ['canceled', 'succeeded']);
      assert.deepEqual(await paying.entries(user), [['processor_topup', 900]]);
    });

    it('that the bank has not decided on answers a second call of the same amount, and refuses another amount', async () => {
      await paying.saveCard(user);
      await paying.order('faults', { kind: 'processing' });
      const undecided = await paying.checkout(user, 700);
      assert.deepEqual([undecided.status, undecided.body.status], [200, 'processing']);
      assert.equal(undecided.body.processorChargeId, null);
      const topup = await paying.topup(undecided.body.topupId);
      const same = await paying.checkout(user, 700);
      assert.deepEqual([same.status, same.body.topupId, same.body.status], [200, topup.id, 'processing']);
      const other = await paying.checkout(user, 701);
      assert.deepEqual([other.status, other.body.error], [409, 'charge_in_progress']);
      assert.equal((other.body.details as unknown as { topupId: string }).topupId, topup.id);
      await paying.order(`payment_intents/${topup.payment_id!}/finish`);
      await paying.awaitTopup(topup.id, 'succeeded');
      assert.equal((await paying.checkout(user, 701)).body.status, 'succeeded');
      assert.equal((await paying.wallet(user)).available_cents, 1_401);
    });

    it('is charged for as many as really follow each other when several come at once', async () => {
      await paying.saveCard(user);
      const answers = await Promise.all([1, 2, 3, 4].map(() => paying.checkout(user, 300)));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200],
      );
      const charged = new Set(answers.map(({ body }) => body.topupId));
      await paying.awaitAvailable(user, 300 * charged.size);
    });
  });

  const stuckOf = (item: string) => service.db('stuck_items').where({ item }).first();

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
});
