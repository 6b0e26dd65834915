import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { ProcessorError, type Payment } from '../../../adapters/processor/processor.js';
import type { TopupId, UserId } from '../../../domain/ids.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { pageOf, paymentOf } from '../../support/activities/scripted-processor.js';
import { insertTopup, insertUser } from '../../support/money/factories.js';
import { getWallet } from '../../support/money/money.js';

const AMOUNT = 700;

describe('payments that events name', () => {
  let lone: LoneActivities;
  let userId: UserId;
  before(async () => {
    lone = await startActivities();
  });
  beforeEach(async () => {
    lone.alarms.length = 0;
    userId = (await insertUser(lone.db, { processor_customer_id: `cus_${newId('top')}` })).id;
  });
  after(() => lone.close());
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(lone.db), [], 'every wallet adds up');
  });

  const available = async (of = userId) => (await getWallet(lone.db, of)).available_cents;

  async function tell(workflow: 'topup' | 'payment', workflowId: string, paymentId: string): Promise<void> {
    const no = (await lone.db('processor_events').where({ workflow_id: workflowId })).length;
    await lone.db('processor_events').insert({
      ...{ id: `evt_${no}_${workflowId}`, kind: 'payment_intent.succeeded', livemode: false },
      ...{ created_at: new Date(Date.now() + no * 1_000), workflow_id: workflowId, workflow_type: workflow },
      object: { object: 'payment_intent', id: paymentId },
    });
  }

  /** A payment with these words in its metadata, about which an event has told. */
  async function strayed(columns: Partial<Payment>): Promise<Payment> {
    const told = paymentOf({ topupId: newId('top'), userId, amountCents: AMOUNT });
    const payment = { ...told, topupId: null, ...columns };
    lone.processor.answers = { getPayment: () => Promise.resolve(payment) };
    await tell('payment', payment.paymentId, payment.paymentId);
    await lone.run('lookAtPayment', payment.paymentId);
    return payment;
  }

  it('are credited and handled although the processor does not know what an earlier event names', async () => {
    const topupId = newId('top');
    const missing = new ProcessorError('refused', 'no such payment', { code: 'resource_missing' });
    const paid = paymentOf({ topupId, userId, amountCents: AMOUNT });
    lone.processor.answers = {
      getPayment: (id) => (id === paid.paymentId ? Promise.resolve(paid) : Promise.reject(missing)),
    };
    for (const paymentId of [`pi_nobody_${topupId}`, paid.paymentId]) await tell('topup', topupId, paymentId);
    await assert.rejects(lone.run('lookAtTopup', topupId), missing);
    assert.equal(await available(), AMOUNT);
    const waiting = await lone.db('processor_events').where({ workflow_id: topupId }).whereNull('handled_at');
    assert.deepEqual(
      waiting.map(({ id }) => id),
      [`evt_0_${topupId}`],
    );
  });

  it('are credited to the user whom they name, also where they name a top-up that is not here', async () => {
    await strayed({});
    await strayed({ topupId: newId('top') });
    assert.equal(await available(), 2 * AMOUNT);
  });

  it('are put aside for operators, once and loudly, where their user does not exist', async () => {
    const { paymentId } = await strayed({ userId: newId('usr') });
    await tell('payment', paymentId, paymentId);
    await lone.run('lookAtPayment', paymentId);
    const parked = await lone.db('parked_payments').where({ payment_id: paymentId });
    assert.deepEqual(
      parked.map(({ amount_cents: cents, currency }) => [cents, currency]),
      [[AMOUNT, 'usd']],
    );
    assert.deepEqual(
      lone.alarms.map((alarm) => alarm['paymentId']),
      [paymentId],
    );
  });

  it('are put aside where they name another user than their top-up’s', async () => {
    const { id: otherId } = await insertUser(lone.db);
    const topup = await insertTopup(lone.db, otherId, { amount_cents: AMOUNT });
    const { paymentId } = await strayed({ topupId: topup.id });
    assert.equal((await lone.db('parked_payments').where({ payment_id: paymentId })).length, 1);
    assert.deepEqual([await available(), await available(otherId)], [0, 0]);
    assert.match((await lone.db('topups').where({ id: topup.id }).first())?.error ?? '', /operator/);
  });

  describe('by a page', () => {
    async function look(topupId: TopupId, columns: Partial<Payment>): Promise<string> {
      const payment = paymentOf({ topupId, userId, amountCents: AMOUNT }, columns);
      const page = pageOf(topupId, { status: 'complete', payment });
      lone.processor.answers = { getCheckoutSession: () => Promise.resolve(page) };
      return (await lone.run('lookAtTopup', topupId)).status;
    }

    it('are waited for while the bank decides', async () => {
      const { id } = await insertTopup(lone.db, userId, { amount_cents: AMOUNT });
      assert.equal(await look(id, { status: 'processing', amountReceivedCents: 0 }), 'processing');
      assert.equal(await available(), 0);
      assert.equal(await look(id, {}), 'succeeded');
      assert.equal(await available(), AMOUNT);
    });

    for (const keptByConsent of [true, false]) {
      it(`leave a saved card ${keptByConsent ? 'to a payer who consented' : 'to nobody who did not consent'}`, async () => {
        const { id } = await insertTopup(lone.db, userId, { amount_cents: AMOUNT });
        const { processor_customer_id: customerId } = (await lone.db('users').where({ id: userId }).first())!;
        const card = {
          ...{ cardId: `pm_${id}`, customerId, brand: 'visa', last4: '4242', expMonth: 12, expYear: 2099 },
          ...{ fingerprint: `fp_${id}`, keptByConsent },
        };
        await look(id, { card });
        const saved = await lone.db('saved_cards').where({ user_id: userId });
        assert.equal(saved.length, keptByConsent ? 1 : 0);
      });
    }
  });
});
