import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { insertTopupRequest } from '../../../adapters/postgres/requests/opening-requests.js';
import type { TopupRow } from '../../../adapters/postgres/rows/tables.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';
import { until } from '../../support/until.js';

describe('a top-up by the saved card', () => {
  let service: TestService;
  let paying: Paying;
  let user: SignedIn;

  before(async () => {
    service = await startService();
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

  /** The payments that the processor made for a top-up. */
  async function paymentsOf(topupId: string): Promise<string[]> {
    const { payment_intents: intents } = await paying.state();
    return intents.filter(({ metadata }) => metadata['topup_id'] === topupId).map(({ status }) => status);
  }

  /** Starts the workflow as the API does, with durations that the API does not pass. */
  async function start(
    amountCents: number,
    { answerWithinMs = 20_000, askAfterMs }: { answerWithinMs?: number; askAfterMs?: number[] },
  ) {
    const topupId = newId('top');
    const answerBefore = new Date(Date.now() + answerWithinMs);
    await insertTopupRequest(service.db, topupId, { userId: user.user.id, amountCents }, answerBefore);
    const run = await service.temporal.workflow.start('topup', {
      workflowId: topupId,
      taskQueue: taskQueues.rentals,
      args: [{ topupId, open: { answerBefore: answerBefore.toISOString() }, askAfterMs }],
    });
    return { topupId, run };
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

  it('is card_declined with the bank’s code; the next one with another card goes through', async () => {
    await paying.saveCard(user, 'pm_card_chargeCustomerFail');
    const declined = await paying.checkout(user, 500);
    assert.deepEqual([declined.status, declined.body.error], [402, 'card_declined']);
    const details = declined.body.details as unknown as { declineCode: string; topupId: string };
    assert.equal(details.declineCode, 'generic_decline');
    const topup = await paying.topup(details.topupId);
    assert.deepEqual([topup.status, topup.closed_at instanceof Date], ['failed', true]);
    const shown = (await user.get(`/v1/billing/topups/${details.topupId}`)).body;
    assert.deepEqual([shown.status, shown.declineCode], ['failed', 'generic_decline']);
    assert.deepEqual(await paying.entries(user), []);
    assert.deepEqual(await paying.mails(user), [], 'he was told in the answer');
    await paying.saveCard(user);
    assert.equal((await paying.checkout(user, 500)).body.status, 'succeeded');
  });

  for (const declineCode of ['insufficient_funds', 'lost_card', 'expired_card', 'do_not_honor']) {
    it(`tells ${declineCode} as it is`, async () => {
      await paying.saveCard(user);
      await paying.order('faults', { kind: 'decline', declineCode });
      const { status, body } = await paying.checkout(user, 500);
      assert.equal(status, 402);
      assert.equal((body.details as unknown as { declineCode: string }).declineCode, declineCode);
    });
  }

  it('gives the same decline for the same Idempotency-Key', async () => {
    await paying.saveCard(user, 'pm_card_chargeCustomerFail');
    const first = await paying.checkout(user, 500, { 'Idempotency-Key': 'again' });
    const second = await paying.checkout(user, 500, { 'Idempotency-Key': 'again' });
    assert.deepEqual([second.status, second.body.details], [402, first.body.details]);
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
    assert.equal((await service.db('topups').where({ user_id: user.user.id })).length, 1);
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

  it('becomes a payment page when the card is gone at the processor, whose event is still on its way', async () => {
    const pmId = await paying.saveCard(user);
    await paying.order('faults', { kind: 'event_drop', type: 'payment_method.detached' });
    await service.stripe.paymentMethods.detach(pmId);
    const { body } = await paying.checkout(user, 900);
    assert.equal(body.status, 'requires_payment');
    assert.equal(await paying.card(user), null);
  });

  describe('whose answer is lost', () => {
    it('is asked again with the same key: one charge', async () => {
      await paying.saveCard(user);
      // The SDK itself retries a cut connection once, so the next answer is lost as well.
      await paying.order('faults', { kind: 'lost', times: 2, method: 'POST', path: '/v1/payment_intents' });
      const { body } = await paying.checkout(user, 800);
      assert.equal(body.status, 'succeeded');
      assert.deepEqual(await paymentsOf(body.topupId), ['succeeded']);
      assert.equal((await paying.wallet(user)).available_cents, 800);
    });

    it('is looked up while the processor repeats an error under the key, and never declined', async () => {
      await paying.saveCard(user);
      await paying.order('faults', {
        ...{ kind: 'status', status: 500, sticky: true, method: 'POST', path: '/v1/payment_intents' },
      });
      const { topupId, run } = await start(500, { answerWithinMs: 500 });
      const topup = await until('it waits for its outcome', async () => {
        const row = await service.db('topups').where({ id: topupId }).first();
        return row?.status === 'processing' && row;
      });
      assert.equal(topup.closed_at, null);
      // A day later the processor forgets the key: a payment that was never made is looked up, not made.
      await service
        .db('topups')
        .where({ id: topupId })
        .update({ charge_sent_at: new Date(Date.now() - 86_400_000) });
      await run.result();
      assert.match((await paying.topup(topupId)).error!, /never reached/);
      assert.deepEqual(await paymentsOf(topupId), []);
    });
  });

  it('is answered while the processor is down: processing, then credited', async () => {
    await paying.saveCard(user);
    await paying.order('faults', { kind: 'html', times: 4, path: '/v1/payment_intents' });
    const { status, body } = await paying.checkout(user, 600);
    assert.equal(status, 200);
    assert.ok(['processing', 'succeeded'].includes(body.status));
    await paying.awaitAvailable(user, 600);
    assert.deepEqual(await paymentsOf(body.topupId), ['succeeded']);
  });

  describe('that the bank has not decided on', () => {
    async function undecided(cents: number): Promise<TopupRow> {
      await paying.saveCard(user);
      await paying.order('faults', { kind: 'processing' });
      const { status, body } = await paying.checkout(user, cents);
      assert.deepEqual([status, body.status, body.processorChargeId], [200, 'processing', null]);
      return paying.topup(body.topupId);
    }

    it('is credited when it succeeds', async () => {
      const topup = await undecided(700);
      assert.equal((await paying.wallet(user)).available_cents, 0);
      await paying.order(`payment_intents/${topup.payment_id!}/finish`);
      await paying.awaitAvailable(user, 700);
    });

    it('fails when it is declined, and the user is mailed once', async () => {
      const topup = await undecided(700);
      await paying.order(`payment_intents/${topup.payment_id!}/finish`, { outcome: 'decline' });
      const failed = await paying.awaitTopup(topup.id, 'failed');
      assert.equal(failed.decline_code, 'generic_decline');
      await paying.awaitHandled();
      assert.deepEqual(await paying.mails(user), ['Your top-up of $7.00 failed']);
      assert.deepEqual(await paying.entries(user), []);
    });

    it('answers a second call of the same amount, and refuses another amount meanwhile', async () => {
      const topup = await undecided(700);
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
  });

  it('is charged once for fifty calls at once with one Idempotency-Key', async () => {
    await paying.saveCard(user);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => paying.checkout(user, 300, { 'Idempotency-Key': 'fifty' })),
    );
    for (const { status, body } of answers) assert.deepEqual([status, body], [200, answers[0]!.body]);
    assert.deepEqual(await paying.entries(user), [['processor_topup', 300]]);
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

  it('is never sent after the answer was promised: 503, and nothing is charged', async () => {
    await paying.saveCard(user);
    const { topupId, run } = await start(500, { answerWithinMs: -1 });
    assert.deepEqual(await run.result(), { outcome: 'refused', code: 'temporarily_unavailable' });
    assert.deepEqual(await paymentsOf(topupId), []);
  });

  it('is refused while charges are paused, to blocked users, and to young accounts after ten a day', async () => {
    await paying.saveCard(user);
    await service.db('brakes').insert({ kind: 'charges', pulled_by: 'test', reason: 'drill' });
    const paused = await paying.checkout(user, 500);
    await service.db('brakes').delete();
    assert.deepEqual([paused.status, paused.body.error], [503, 'temporarily_unavailable']);
    assert.equal(paused.body.details.outcome, 'not_done');
    await service
      .db('users')
      .where({ id: user.user.id })
      .update({ blocked_at: new Date(), blocked_reason: 'fraud' });
    const blocked = await paying.checkout(user, 500);
    assert.deepEqual(
      [blocked.status, blocked.body.error, blocked.body.details],
      [403, 'blocked', { reason: 'fraud' }],
    );
    await service.db('users').where({ id: user.user.id }).update({ blocked_at: null, blocked_reason: null });
    for (let count = 0; count < 10; count += 1) assert.equal((await paying.checkout(user, 100)).status, 200);
    const eleventh = await paying.checkout(user, 100);
    assert.deepEqual([eleventh.status, eleventh.body.error], [403, 'blocked']);
    await service
      .db('users')
      .where({ id: user.user.id })
      .update({ created_at: new Date(Date.now() - 8 * 86_400_000) });
    assert.equal((await paying.checkout(user, 100)).status, 200);
  });

  it('goes on by itself when every event is lost', async () => {
    await paying.saveCard(user);
    await paying.order('faults', { kind: 'event_drop', times: 50 });
    await paying.order('faults', { kind: 'processing' });
    const { topupId, run } = await start(500, { askAfterMs: [100] });
    const processing = await until('the charge is undecided', async () => {
      const topup = await service.db('topups').where({ id: topupId }).first();
      return topup?.payment_id !== null && topup;
    });
    await paying.order(`payment_intents/${processing.payment_id}/finish`);
    assert.deepEqual(await run.result(), { outcome: 'succeeded' });
  });
});
