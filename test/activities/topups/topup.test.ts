import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { TopupRow } from '../../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { ProcessorError } from '../../../adapters/processor/processor.js';
import type { TopupId, UserId } from '../../../domain/ids.js';
import { HOUR } from '../../../domain/durations.js';
import { paymentLimits } from '../../../domain/payments/limits.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { dyingOnce, pageOf, paymentOf } from '../../support/activities/scripted-processor.js';
import { insertSavedCard, insertTopup, insertUser } from '../../support/money/factories.js';
import { getWallet } from '../../support/money/money.js';

const AMOUNT = 2_500;
const inTime = '2099-01-01T00:00:00.000Z';

describe('the activities of a top-up', () => {
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities();
  });
  beforeEach(() => lone.processor.reset());
  after(() => lone.close());
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(lone.db), [], 'every wallet adds up');
  });

  interface Asked {
    readonly topupId: TopupId;
    readonly userId: UserId;
    readonly amountCents: number;
  }

  /** A user who has asked for a top-up, with or without a saved card. */
  async function ask(card?: 'card'): Promise<Asked> {
    const topupId = newId('top');
    const user = await insertUser(lone.db, { processor_customer_id: `cus_${topupId}` });
    const asked = { topupId, userId: user.id, amountCents: AMOUNT };
    await lone.db('topup_requests').insert({
      id: topupId,
      user_id: user.id,
      amount_cents: AMOUNT,
      answer_before: new Date(inTime),
    });
    if (card) {
      await insertSavedCard(lone.db, user.id, { pm_id: `pm_${topupId}`, fingerprint: `fp_${topupId}` });
    }
    return asked;
  }

  const open = (topupId: TopupId, answerBefore = inTime) => lone.run('openTopup', topupId, { answerBefore });
  const look = (topupId: TopupId) => lone.run('lookAtTopup', topupId);

  async function row(topupId: TopupId): Promise<TopupRow | undefined> {
    return lone.db('topups').where({ id: topupId }).first();
  }

  async function available(userId: UserId): Promise<number> {
    return (await getWallet(lone.db, userId)).available_cents;
  }

  async function aged(topupId: TopupId, column: 'created_at' | 'page_asked_at', ms: number): Promise<void> {
    const at = lone.db.raw(`${column} - ? * interval '1 millisecond'`, [ms]);
    await lone
      .db('topups')
      .where({ id: topupId })
      .update({ [column]: at });
  }

  describe('openTopup', () => {
    it('opens a payment page for who has saved no card, and the same one when it runs twice', async () => {
      const { topupId, userId } = await ask();
      lone.processor.answers = { createCheckoutSession: () => Promise.resolve(pageOf(topupId)) };
      assert.deepEqual(await open(topupId), { topupId });
      assert.deepEqual(await open(topupId), { topupId });
      assert.deepEqual(lone.processor.asked, [
        [
          'createCheckoutSession',
          {
            topupId,
            userId,
            customerId: `cus_${topupId}`,
            amountCents: AMOUNT,
            successUrl: 'http://127.0.0.1/success',
            cancelUrl: 'http://127.0.0.1/cancel',
          },
        ],
      ]);
      const { status, session_id } = (await row(topupId))!;
      assert.deepEqual([status, session_id], ['requires_payment', `cs_${topupId}`]);
    });

    it('makes one customer of a user who has none, before it asks for the page', async () => {
      const { topupId, userId } = await ask();
      await lone.db('users').where({ id: userId }).update({ processor_customer_id: null });
      lone.processor.answers = {
        createCustomer: () => Promise.resolve({ customerId: 'cus_new' }),
        createCheckoutSession: dyingOnce(() => Promise.resolve(pageOf(topupId))),
      };
      await assert.rejects(open(topupId), /died/);
      await open(topupId);
      assert.deepEqual(lone.processor.names, [
        'createCustomer',
        'createCheckoutSession',
        'createCheckoutSession',
      ]);
    });

    it('asks for the same page again when it died after the call and before the commit', async () => {
      const { topupId } = await ask();
      lone.processor.answers = { createCheckoutSession: dyingOnce(() => Promise.resolve(pageOf(topupId))) };
      await assert.rejects(open(topupId), /died/);
      assert.equal((await row(topupId))?.session_id, null);
      assert.deepEqual(await open(topupId), { topupId });
      const [first, second] = lone.processor.argsOf('createCheckoutSession');
      assert.deepEqual(second, first, 'by which the processor knows that it is the same');
      assert.equal((await row(topupId))?.session_id, `cs_${topupId}`);
    });

    it('charges the saved card once, and credits it once, however often it runs', async () => {
      const asked = await ask('card');
      const { topupId, userId } = asked;
      lone.processor.answers = { chargeSavedCard: () => Promise.resolve(paymentOf(asked)) };
      assert.deepEqual(await open(topupId), { topupId });
      assert.deepEqual(await open(topupId), { topupId });
      assert.deepEqual(lone.processor.names, ['chargeSavedCard']);
      assert.equal(await available(userId), AMOUNT);
    });

    it('makes the same charge again when it died after the call, and credits it once', async () => {
      const asked = await ask('card');
      const { topupId, userId } = asked;
      lone.processor.answers = { chargeSavedCard: dyingOnce(() => Promise.resolve(paymentOf(asked))) };
      await assert.rejects(open(topupId), /died/);
      assert.equal(await available(userId), 0);
      assert.deepEqual(await open(topupId), { topupId });
      const [first, second] = lone.processor.argsOf('chargeSavedCard');
      assert.deepEqual(second, first, 'by which the processor knows that it is the same');
      assert.equal(await available(userId), AMOUNT);
    });

    it('refuses with the word of the bank, the second time without asking it again', async () => {
      const asked = await ask('card');
      const declined = new ProcessorError('declined', 'no', {
        declineCode: 'expired_card',
        paymentId: 'pi_1',
      });
      lone.processor.answers = { chargeSavedCard: () => Promise.reject(declined) };
      for (const time of ['first', 'second']) {
        await assert.rejects(
          open(asked.topupId),
          {
            name: 'ApplicationFailure',
            type: 'card_declined',
            nonRetryable: true,
            details: [{ declineCode: 'expired_card', topupId: asked.topupId }],
          },
          `the ${time} time`,
        );
      }
      assert.deepEqual(lone.processor.names, ['chargeSavedCard']);
      assert.equal((await row(asked.topupId))?.status, 'failed');
      assert.equal(await available(asked.userId), 0);
    });

    it('is to be called again when the processor did not tell what became of the charge', async () => {
      const asked = await ask('card');
      const unknown = new ProcessorError('unknown', 'no answer');
      lone.processor.answers = { chargeSavedCard: () => Promise.reject(unknown) };
      await assert.rejects(open(asked.topupId), unknown);
      assert.equal((await row(asked.topupId))?.closed_at, null, 'it may have been charged');
    });

    it('joins a charge of the same amount that is under way, and charges nothing', async () => {
      const asked = await ask('card');
      const processing = paymentOf(asked, { status: 'processing', amountReceivedCents: 0 });
      lone.processor.answers = { chargeSavedCard: () => Promise.resolve(processing) };
      await open(asked.topupId);
      const second = newId('top');
      const request = { user_id: asked.userId, amount_cents: AMOUNT, answer_before: new Date(inTime) };
      await lone.db('topup_requests').insert({ id: second, ...request });
      assert.deepEqual(await open(second), { topupId: asked.topupId });
      lone.processor.answers = { getPayment: () => Promise.resolve(paymentOf(asked)) };
      assert.equal((await look(asked.topupId)).status, 'succeeded');
      assert.deepEqual(await open(second), { topupId: asked.topupId }, 'also after its first word was lost');
      assert.equal(await row(second), undefined);
      assert.deepEqual(lone.processor.names, ['chargeSavedCard', 'getPayment']);
    });

    const refusals: Record<string, () => Promise<{ topupId: TopupId; answerBefore?: string; type: string }>> =
      {
        'that nobody has asked for': () =>
          Promise.resolve({ topupId: newId('top'), type: 'temporarily_unavailable' }),
        'that comes too late': async () => ({
          ...(await ask()),
          answerBefore: '2020-01-01T00:00:00.000Z',
          type: 'temporarily_unavailable',
        }),
      };
    for (const [which, prepare] of Object.entries(refusals)) {
      it(`refuses one ${which}, begins nothing and asks the processor for nothing`, async () => {
        const { topupId, answerBefore, type } = await prepare();
        await assert.rejects(open(topupId, answerBefore), {
          name: 'ApplicationFailure',
          type,
          nonRetryable: true,
        });
        assert.equal(await row(topupId), undefined);
        assert.deepEqual(lone.processor.asked, []);
      });
    }

    it('refuses while payments are not configured', async () => {
      const unbilled = await startActivities({ billing: false });
      const opened = unbilled.run('openTopup', newId('top'), { answerBefore: inTime });
      await assert.rejects(opened, {
        name: 'ApplicationFailure',
        type: 'billing_disabled',
        nonRetryable: true,
      });
      assert.deepEqual(unbilled.processor.asked, []);
      await unbilled.close();
    });
  });

  describe('lookAtTopup', () => {
    async function withPage(columns: Partial<TopupRow> = {}): Promise<Asked & { sessionId: string }> {
      const user = await insertUser(lone.db);
      const { id, session_id } = await insertTopup(lone.db, user.id, { amount_cents: AMOUNT, ...columns });
      return { topupId: id, userId: user.id, amountCents: AMOUNT, sessionId: session_id! };
    }

    it('finds nothing of ours where there is no row, and asks nobody', async () => {
      assert.deepEqual(await look(newId('top')), {
        state: 'missing',
        status: 'missing',
        summary: 'no such top-up',
      });
      assert.deepEqual(lone.processor.asked, []);
    });

    it('waits while the page is open, and credits what was really paid, once', async () => {
      const asked = await withPage();
      lone.processor.answers = { getCheckoutSession: () => Promise.resolve(pageOf(asked.topupId)) };
      assert.equal((await look(asked.topupId)).state, 'waiting');
      const payment = paymentOf(asked, { amountReceivedCents: 2_400 });
      const paid = pageOf(asked.topupId, { status: 'complete', paymentStatus: 'paid', payment });
      lone.processor.answers = { getCheckoutSession: () => Promise.resolve(paid) };
      const closed = { state: 'closed', status: 'succeeded', summary: 'succeeded: 2400 cents' };
      assert.deepEqual(await look(asked.topupId), closed);
      assert.deepEqual(await look(asked.topupId), closed);
      assert.equal(await available(asked.userId), 2_400);
      assert.equal(lone.processor.asked.length, 2, 'one that is credited is not asked for again');
    });

    it('ends one whose page expired, and credits it all the same when it is paid after that', async () => {
      const asked = await withPage();
      const expired = pageOf(asked.topupId, { status: 'expired', url: null });
      lone.processor.answers = { getCheckoutSession: () => Promise.resolve(expired) };
      assert.deepEqual([(await look(asked.topupId)).status, await available(asked.userId)], ['expired', 0]);
      const late = pageOf(asked.topupId, { status: 'complete', payment: paymentOf(asked) });
      lone.processor.answers = { getCheckoutSession: () => Promise.resolve(late) };
      assert.equal((await look(asked.topupId)).status, 'succeeded');
      assert.equal(await available(asked.userId), AMOUNT);
    });

    it('ends one whose payment the bank refused after the page had taken it', async () => {
      const asked = await withPage();
      const payment = paymentOf(asked, { status: 'failed', amountReceivedCents: 0 });
      const refused = pageOf(asked.topupId, { status: 'complete', payment });
      lone.processor.answers = { getCheckoutSession: () => Promise.resolve(refused) };
      assert.equal((await look(asked.topupId)).status, 'failed');
      assert.equal(await available(asked.userId), 0);
    });

    it('parks what was paid in another currency, credits nothing, and parks it once', async () => {
      const asked = await withPage();
      const payment = paymentOf(asked, { currency: 'eur' });
      const foreign = pageOf(asked.topupId, { status: 'complete', payment });
      lone.processor.answers = { getCheckoutSession: () => Promise.resolve(foreign) };
      await look(asked.topupId);
      await look(asked.topupId);
      const parked = await lone.db('parked_payments').where({ payment_id: payment.paymentId });
      assert.equal(parked.length, 1);
      assert.equal(await available(asked.userId), 0);
    });

    it('handles the events that were stored before it asked', async () => {
      const { topupId } = await withPage();
      lone.processor.answers = { getCheckoutSession: () => Promise.resolve(pageOf(topupId)) };
      await lone.db('processor_events').insert({
        id: `evt_${topupId}`,
        kind: 'checkout.session.expired',
        created_at: new Date(),
        livemode: false,
        object: {},
        workflow_id: topupId,
        workflow_type: 'topup',
      });
      assert.equal((await look(topupId)).status, 'requires_payment', 'no event is believed');
      const event = await lone
        .db('processor_events')
        .where({ id: `evt_${topupId}` })
        .first();
      assert.ok(event);
      assert.equal(event.note, 'the top-up was brought up to date');
      assert.notEqual(event.handled_at, null);
    });

    it('leaves a young one that was never begun to its opening, and ends an old one', async () => {
      const { topupId, userId } = await ask('card');
      await insertTopup(lone.db, userId, {
        id: topupId,
        status: 'creating',
        source: 'saved_card',
        pm_id: `pm_${topupId}`,
        session_id: null,
        checkout_url: null,
        session_expires_at: null,
      });
      assert.equal((await look(topupId)).state, 'waiting');
      await aged(topupId, 'created_at', paymentLimits.topupBeginMs + 1_000);
      assert.equal((await look(topupId)).status, 'failed');
      assert.deepEqual(lone.processor.asked, [], 'nothing has left');
    });

    it('takes a charge up whose answer was lost, and credits it once', async () => {
      const asked = await ask('card');
      lone.processor.answers = { chargeSavedCard: dyingOnce(() => Promise.resolve(paymentOf(asked))) };
      await assert.rejects(open(asked.topupId), /died/);
      assert.equal((await look(asked.topupId)).status, 'succeeded');
      assert.equal((await look(asked.topupId)).status, 'succeeded');
      assert.equal(await available(asked.userId), AMOUNT);
      assert.deepEqual(lone.processor.names, ['chargeSavedCard', 'chargeSavedCard']);
    });

    it('takes a page up that was asked for and never heard of, until the processor has forgotten its key', async () => {
      const { topupId } = await ask();
      lone.processor.answers = { createCheckoutSession: dyingOnce(() => Promise.resolve(pageOf(topupId))) };
      await assert.rejects(open(topupId), /died/);
      assert.equal((await look(topupId)).status, 'requires_payment');
      const [first, second] = lone.processor.argsOf('createCheckoutSession');
      assert.deepEqual(second, first);

      // A clock that ran ahead and was set back since says nothing of how old the key is.
      for (const agoMs of [paymentLimits.chargeKeyMs + 1_000, -HOUR]) {
        const late = await ask();
        lone.processor.reset();
        lone.processor.answers = {
          createCheckoutSession: () => Promise.reject(new Error('the worker died')),
        };
        await assert.rejects(open(late.topupId), /died/);
        await aged(late.topupId, 'page_asked_at', agoMs);
        assert.equal((await look(late.topupId)).status, 'failed');
        assert.equal(lone.processor.asked.length, 1, 'the same call would open another page');
      }
    });
  });

  describe('abandonTopup', () => {
    it('ends one of which nothing has left, and leaves what was asked for alone', async () => {
      const unsent = await ask('card');
      await insertTopup(lone.db, unsent.userId, {
        id: unsent.topupId,
        status: 'creating',
        source: 'saved_card',
        pm_id: `pm_${unsent.topupId}`,
        session_id: null,
        checkout_url: null,
        session_expires_at: null,
      });
      await lone.run('abandonTopup', unsent.topupId, 'It took too long.');
      const { status, error } = (await row(unsent.topupId))!;
      assert.deepEqual([status, error], ['failed', 'It took too long.']);

      const sent = await ask('card');
      lone.processor.answers = { chargeSavedCard: () => Promise.reject(new Error('the worker died')) };
      await assert.rejects(open(sent.topupId), /died/);
      await lone.run('abandonTopup', sent.topupId, 'It took too long.');
      assert.equal((await row(sent.topupId))?.closed_at, null, 'its charge may have been made');
    });

    it('changes nothing where there is no row, or where it is final', async () => {
      await lone.run('abandonTopup', newId('top'), 'It took too long.');
      const asked = await ask('card');
      lone.processor.answers = { chargeSavedCard: () => Promise.resolve(paymentOf(asked)) };
      await open(asked.topupId);
      const before = await row(asked.topupId);
      await lone.run('abandonTopup', asked.topupId, 'It took too long.');
      assert.deepEqual(await row(asked.topupId), before);
    });
  });
});
