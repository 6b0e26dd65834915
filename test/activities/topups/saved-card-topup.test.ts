import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { TopupRow } from '../../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { ProcessorError, type Payment } from '../../../adapters/processor/processor.js';
import type { TopupId, UserId } from '../../../domain/ids.js';
import { DAY } from '../../../domain/durations.js';
import { paymentLimits } from '../../../domain/payments/limits.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { pageOf, paymentOf } from '../../support/activities/scripted-processor.js';
import { insertSavedCard, insertUser } from '../../support/money/factories.js';
import { getWallet } from '../../support/money/money.js';

const AMOUNT = 2_500;
const inTime = '2099-01-01T00:00:00.000Z';

describe('a top-up by the saved card', () => {
  let lone: LoneActivities;
  let userId: UserId;
  before(async () => {
    lone = await startActivities();
  });
  beforeEach(async () => {
    lone.processor.reset();
    lone.alarms.length = 0;
    const user = await insertUser(lone.db, { processor_customer_id: `cus_${newId('top')}` });
    userId = user.id;
    await insertSavedCard(lone.db, userId);
  });
  after(() => lone.close());
  afterEach(async () => {
    await lone.db('brakes').delete();
    assert.deepEqual(await verifyLedgerAgain(lone.db), [], 'every wallet adds up');
  });

  async function ask(amountCents = AMOUNT): Promise<TopupId> {
    const id = newId('top');
    const request = { id, user_id: userId, amount_cents: amountCents, answer_before: new Date(inTime) };
    await lone.db('topup_requests').insert(request);
    return id;
  }

  const open = (topupId: TopupId) => lone.run('openTopup', topupId, { answerBefore: inTime });
  const openAgain = (topupId: TopupId) => lone.runAgain('openTopup', topupId, { answerBefore: inTime });
  const look = (topupId: TopupId) => lone.run('lookAtTopup', topupId);
  const row = async (id: TopupId): Promise<TopupRow> => (await lone.db('topups').where({ id }).first())!;
  const available = async () => (await getWallet(lone.db, userId)).available_cents;
  const card = () => lone.db('saved_cards').where({ user_id: userId }).first();

  function payment(topupId: TopupId, columns: Partial<Payment> = {}): Payment {
    return paymentOf({ topupId, userId, amountCents: AMOUNT }, columns);
  }
  const unpaid = (topupId: TopupId, status: Payment['status']): Payment =>
    payment(topupId, { status, amountReceivedCents: 0 });

  async function mails(): Promise<string[]> {
    const user = await lone.db('users').where({ id: userId }).first();
    const rows = await lone.db('mail_outbox').where({ recipient: user!.email }).orderBy('id');
    return rows.map(({ subject }) => subject);
  }

  describe('becomes a payment page, and nothing is charged before,', () => {
    it('when the bank wants its customer to approve: the charge is cancelled first', async () => {
      const topupId = await ask();
      lone.processor.answers = {
        chargeSavedCard: () => Promise.resolve(unpaid(topupId, 'requires_action')),
        cancelPayment: () => Promise.resolve(unpaid(topupId, 'canceled')),
        createCheckoutSession: () => Promise.resolve(pageOf(topupId)),
      };
      await open(topupId);
      assert.deepEqual(lone.processor.names, ['chargeSavedCard', 'cancelPayment', 'createCheckoutSession']);
      assert.deepEqual([(await row(topupId)).status, await mails()], ['requires_payment', []]);
    });

    it('when the processor has the card no longer, which is forgotten', async () => {
      const topupId = await ask();
      const missing = new ProcessorError('refused', 'no such card', {
        code: 'resource_missing',
        status: 404,
      });
      lone.processor.answers = {
        chargeSavedCard: () => Promise.reject(missing),
        getCard: () => Promise.reject(missing),
        createCheckoutSession: () => Promise.resolve(pageOf(topupId)),
      };
      await open(topupId);
      assert.equal((await row(topupId)).status, 'requires_payment');
      assert.equal((await card())?.removed_why, 'detached');
    });

    it('when the card has expired', async () => {
      await lone.db('saved_cards').where({ user_id: userId }).update({ exp_year: 2020 });
      const topupId = await ask();
      lone.processor.answers = { createCheckoutSession: () => Promise.resolve(pageOf(topupId)) };
      await open(topupId);
      assert.deepEqual(lone.processor.names, ['createCheckoutSession']);
    });

    it('and fails when the processor refuses to open it, loudly', async () => {
      await lone.db('saved_cards').where({ user_id: userId }).update({ exp_year: 2020 });
      const topupId = await ask();
      lone.processor.answers = { createCheckoutSession: () => Promise.reject(new Error('the worker died')) };
      await assert.rejects(open(topupId), /died/);
      const refused = new ProcessorError('refused', 'HTTP 400', { status: 400 });
      lone.processor.answers = { createCheckoutSession: () => Promise.reject(refused) };
      assert.equal((await look(topupId)).status, 'failed');
      assert.match((await row(topupId)).error ?? '', /You were not charged/);
      assert.deepEqual(
        lone.alarms.map((alarm) => alarm['topupId']),
        [topupId],
      );
    });
  });

  it('that is declined in the answer is told by no mail, and another card can be charged', async () => {
    const declined = await ask();
    const no = new ProcessorError('declined', 'no', { declineCode: 'lost_card' });
    lone.processor.answers = { chargeSavedCard: () => Promise.reject(no) };
    await assert.rejects(open(declined), { type: 'card_declined' });
    assert.deepEqual([(await row(declined)).decline_code, await mails()], ['lost_card', []]);
    const next = await ask();
    lone.processor.answers = { chargeSavedCard: () => Promise.resolve(payment(next)) };
    await open(next);
    assert.equal(await available(), AMOUNT);
  });

  describe('whose request was answered before the processor did', () => {
    const afterTheAnswer = async (topupId: TopupId) => {
      await lone
        .db('topup_requests')
        .where({ id: topupId })
        .update({ answer_before: new Date(0) });
    };

    it('tells of a decline by one mail', async () => {
      const topupId = await ask();
      lone.processor.answers = {
        chargeSavedCard: async () => {
          await afterTheAnswer(topupId);
          throw new ProcessorError('declined', 'no', { declineCode: 'lost_card' });
        },
      };
      await assert.rejects(open(topupId), { type: 'card_declined' });
      await assert.rejects(openAgain(topupId), { type: 'card_declined' });
      assert.deepEqual(await mails(), ['Your top-up of $25.00 failed']);
    });

    it('tells by one mail that the bank wants its customer to approve', async () => {
      const topupId = await ask();
      lone.processor.answers = {
        chargeSavedCard: () => Promise.resolve(unpaid(topupId, 'requires_action')),
        cancelPayment: () => Promise.resolve(unpaid(topupId, 'canceled')),
        createCheckoutSession: async () => {
          await afterTheAnswer(topupId);
          return pageOf(topupId);
        },
      };
      for (let times = 0; times < 2; times += 1) await open(topupId);
      assert.deepEqual(await mails(), ['Your bank asks you to approve a top-up of $25.00']);
    });

    it('tells nothing of a decline that was answered in time, when it is read again late', async () => {
      const topupId = await ask();
      const no = new ProcessorError('declined', 'no', { declineCode: 'lost_card' });
      lone.processor.answers = { chargeSavedCard: () => Promise.reject(no) };
      await assert.rejects(open(topupId), { type: 'card_declined' });
      const { closed_at: closedAt } = await row(topupId);
      await lone.db('topup_requests').where({ id: topupId }).update({ answer_before: closedAt! });
      await assert.rejects(openAgain(topupId), { type: 'card_declined' });
      assert.deepEqual(await mails(), []);
    });
  });

  describe('that the bank has not decided on', () => {
    async function undecided(): Promise<TopupId> {
      const topupId = await ask();
      lone.processor.answers = { chargeSavedCard: () => Promise.resolve(unpaid(topupId, 'processing')) };
      await open(topupId);
      assert.equal((await row(topupId)).status, 'processing');
      return topupId;
    }

    it('is credited when it succeeds', async () => {
      const topupId = await undecided();
      lone.processor.answers = { getPayment: () => Promise.resolve(payment(topupId)) };
      assert.equal((await look(topupId)).status, 'succeeded');
      assert.equal(await available(), AMOUNT);
    });

    it('fails when it is declined, and its user is mailed once', async () => {
      const topupId = await undecided();
      const failure = { code: 'card_declined', declineCode: 'generic_decline' };
      const failed = payment(topupId, { status: 'failed', amountReceivedCents: 0, failure });
      lone.processor.answers = { getPayment: () => Promise.resolve(failed) };
      for (let times = 0; times < 2; times += 1) assert.equal((await look(topupId)).status, 'failed');
      assert.equal((await row(topupId)).decline_code, 'generic_decline');
      assert.deepEqual([await mails(), await available()], [['Your top-up of $25.00 failed'], 0]);
    });

    it('lets no other amount be charged meanwhile', async () => {
      const topupId = await undecided();
      await assert.rejects(open(await ask(AMOUNT + 1)), {
        ...{ type: 'charge_in_progress', nonRetryable: true },
        details: [{ topupId, amountCents: AMOUNT }],
      });
    });
  });

  it('whose key the processor has forgotten is looked up, and fails when it never got there', async () => {
    const topupId = await ask();
    lone.processor.answers = { chargeSavedCard: () => Promise.reject(new Error('the worker died')) };
    await assert.rejects(open(topupId), /died/);
    const old = new Date(Date.now() - paymentLimits.chargeKeyMs - 60_000);
    await lone.db('topups').where({ id: topupId }).update({ charge_sent_at: old });
    lone.processor.answers = { findPaymentOfTopup: () => Promise.resolve(null) };
    assert.equal((await look(topupId)).status, 'failed');
    assert.match((await row(topupId)).error ?? '', /never reached/);
    assert.deepEqual(lone.processor.names, ['chargeSavedCard', 'findPaymentOfTopup']);
    const [asked] = lone.processor.argsOf('findPaymentOfTopup') as { createdFrom: Date }[];
    assert.deepEqual(asked?.createdFrom, new Date(old.getTime() - DAY), 'our clock may have run ahead');
  });

  it('that was sent by a clock that ran ahead is looked up as well: nobody knows how old its key is', async () => {
    const topupId = await ask();
    lone.processor.answers = { chargeSavedCard: () => Promise.reject(new Error('the worker died')) };
    await assert.rejects(open(topupId), /died/);
    const charge_sent_at = new Date(Date.now() + DAY);
    await lone.db('topups').where({ id: topupId }).update({ charge_sent_at });
    lone.processor.answers = { findPaymentOfTopup: () => Promise.resolve(payment(topupId)) };
    assert.equal((await look(topupId)).status, 'succeeded');
    assert.deepEqual(lone.processor.names, ['chargeSavedCard', 'findPaymentOfTopup']);
  });

  it('is looked up while the processor repeats an error under its key, and never declined', async () => {
    const topupId = await ask();
    const error = new ProcessorError('unknown', 'HTTP 500', { status: 500 });
    lone.processor.answers = {
      chargeSavedCard: () => Promise.reject(error),
      findPaymentOfTopup: () => Promise.resolve(null),
    };
    await assert.rejects(open(topupId), error);
    assert.equal((await row(topupId)).closed_at, null);
    lone.processor.answers.findPaymentOfTopup = () => Promise.resolve(payment(topupId));
    await open(topupId);
    assert.equal(await available(), AMOUNT);
  });

  it('in another currency is credited nowhere, and parked for operators once, loudly', async () => {
    const topupId = await ask();
    lone.processor.answers = {
      chargeSavedCard: () => Promise.resolve(payment(topupId, { currency: 'eur' })),
    };
    await open(topupId);
    await look(topupId);
    const parked = await lone.db('parked_payments').where({ topup_id: topupId });
    assert.deepEqual(
      parked.map(({ amount_cents: cents, currency, reason }) => [cents, currency, reason]),
      [[AMOUNT, 'eur', 'paid in eur']],
    );
    assert.deepEqual(
      lone.alarms.map(({ paymentId }) => paymentId),
      [`pi_${topupId}`],
    );
    const { credited_cents: credited, closed_at: closed, error } = await row(topupId);
    assert.deepEqual([credited, closed === null, await available()], [null, false, 0]);
    assert.match(error ?? '', /operator/);
  });

  /** Decision 88, "Rows before workflows": a caller who reaches Temporal can name a row, and no more. */
  describe('that somebody else than the service begins', () => {
    const forge = (topupId: TopupId, words: object = {}) =>
      lone.run('openTopup', topupId, { answerBefore: inTime, ...words });

    it('charges nobody’s card for an amount and a user in its input', async () => {
      const topupId = newId('top');
      await assert.rejects(forge(topupId, { userId, amountCents: 5_000 }), {
        type: 'temporarily_unavailable',
      });
      assert.deepEqual(lone.processor.asked, []);
      assert.equal(await lone.db('topups').where({ id: topupId }).first(), undefined);
    });

    it('charges what the committed request says, whatever its input says', async () => {
      const topupId = await ask();
      const victim = await insertUser(lone.db);
      lone.processor.answers = { chargeSavedCard: () => Promise.resolve(payment(topupId)) };
      await forge(topupId, { userId: victim.id, amountCents: 5_000 });
      const [charge] = lone.processor.argsOf('chargeSavedCard') as { userId: UserId; amountCents: number }[];
      assert.deepEqual([charge?.userId, charge?.amountCents], [userId, AMOUNT]);
    });

    it('begins nothing after the time that the request was given', async () => {
      const topupId = await ask();
      const answer_before = new Date(Date.now() - 1_000);
      await lone.db('topup_requests').where({ id: topupId }).update({ answer_before });
      await assert.rejects(forge(topupId), { type: 'temporarily_unavailable' });
      assert.deepEqual(lone.processor.asked, []);
    });
  });

  describe('is not begun', () => {
    const refused = async (type: string, details: object | null) => {
      const topupId = await ask();
      await assert.rejects(open(topupId), { type, nonRetryable: true, details: [details] });
      assert.equal(await lone.db('topups').where({ id: topupId }).first(), undefined);
    };

    it('while the operators have paused charges', async () => {
      await lone.db('brakes').insert({ kind: 'charges', pulled_by: 'test', reason: 'drill' });
      await refused('temporarily_unavailable', { outcome: 'not_done' });
    });

    it('for a user who is blocked', async () => {
      const blocked = { blocked_at: new Date(), blocked_reason: 'fraud' };
      await lone.db('users').where({ id: userId }).update(blocked);
      await refused('blocked', { reason: 'fraud' });
    });

    it('for a young account after ten in a day, and for an older one it is', async () => {
      for (let count = 0; count < paymentLimits.topupsPerDayWhenYoung; count += 1) {
        const topupId = await ask();
        lone.processor.answers = { chargeSavedCard: () => Promise.resolve(payment(topupId)) };
        await open(topupId);
      }
      await refused('blocked', { reason: 'too_many_topups', limit: 10 });
      const created_at = new Date(Date.now() - 8 * DAY);
      await lone.db('users').where({ id: userId }).update({ created_at });
      const topupId = await ask();
      lone.processor.answers = { chargeSavedCard: () => Promise.resolve(payment(topupId)) };
      await open(topupId);
      assert.equal(await available(), 11 * AMOUNT);
    });
  });
});
