import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { TopupRow } from '../../../adapters/postgres/rows/tables.js';
import { ProcessorError, type Payment, type Processor } from '../../../adapters/processor/processor.js';
import type { TopupId, UserId } from '../../../domain/ids.js';
import { paymentLimits } from '../../../domain/payments/limits.js';
import { endTopup } from '../../../money/topups/topups.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { pageOf, paymentOf } from '../../support/activities/scripted-processor.js';
import { insertSavedCard, insertUser } from '../../support/money/factories.js';

const AMOUNT = 2_500;
const inTime = '2099-01-01T00:00:00.000Z';

type Page = Processor['createCheckoutSession'];

/** Decision 32, "Checkout and credit": a page answers instead. */
describe('a charge whose owner the bank wants to ask', () => {
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

  async function ask(): Promise<TopupId> {
    const id = newId('top');
    const request = { id, user_id: userId, amount_cents: AMOUNT, answer_before: new Date(inTime) };
    await lone.db('topup_requests').insert(request);
    return id;
  }

  const open = (topupId: TopupId) => lone.run('openTopup', topupId, { answerBefore: inTime });
  const look = (topupId: TopupId) => lone.run('lookAtTopup', topupId);
  const row = async (id: TopupId): Promise<TopupRow> => (await lone.db('topups').where({ id }).first())!;
  const unpaid = (topupId: TopupId, status: Payment['status']): Payment =>
    paymentOf({ topupId, userId, amountCents: AMOUNT }, { status, amountReceivedCents: 0 });

  const dies: Page = () => Promise.reject(new Error('the worker died'));
  const needingOwner = (topupId: TopupId, createCheckoutSession: Page) => ({
    chargeSavedCard: () => Promise.resolve(unpaid(topupId, 'requires_action')),
    cancelPayment: () => Promise.resolve(unpaid(topupId, 'canceled')),
    createCheckoutSession,
  });

  async function mails(): Promise<string[]> {
    const user = await lone.db('users').where({ id: userId }).first();
    const rows = await lone.db('mail_outbox').where({ recipient: user!.email }).orderBy('id');
    return rows.map(({ subject }) => subject);
  }

  describe('in a later look', () => {
    /** A charge without an answer, whose owner the bank wants to ask, as a look finds out. */
    async function toBeApproved(createCheckoutSession: Page): Promise<TopupId> {
      const topupId = await ask();
      const unknown = new ProcessorError('unknown', 'no answer');
      lone.processor.answers = { chargeSavedCard: () => Promise.reject(unknown) };
      await assert.rejects(open(topupId), unknown);
      lone.processor.answers = needingOwner(topupId, createCheckoutSession);
      return topupId;
    }

    it('fails when the processor refuses to open it, loudly, with one mail', async () => {
      const refused = new ProcessorError('refused', 'HTTP 400', { status: 400 });
      const topupId = await toBeApproved(() => Promise.reject(refused));
      assert.equal((await look(topupId)).status, 'failed');
      assert.equal((await look(topupId)).status, 'failed');
      assert.match((await row(topupId)).error ?? '', /You were not charged/);
      assert.deepEqual(lone.processor.argsOf('createCheckoutSession').length, 1);
      assert.deepEqual(
        lone.alarms.map((alarm) => alarm['topupId']),
        [topupId],
      );
      assert.deepEqual(await mails(), ['Your top-up of $25.00 failed']);
    });

    it('gets the same page after a lost answer, and tells of it by one mail', async () => {
      const topupId = await toBeApproved(dies);
      await assert.rejects(look(topupId), /died/);
      lone.processor.answers = { createCheckoutSession: () => Promise.resolve(pageOf(topupId)) };
      assert.equal((await look(topupId)).status, 'requires_payment');
      const [first, second] = lone.processor.argsOf('createCheckoutSession');
      assert.deepEqual(second, first, 'by which the processor knows that it is the same');
      assert.deepEqual(await mails(), ['Your bank asks you to approve a top-up of $25.00']);
    });

    it('is asked for no page any more once the processor has forgotten its key', async () => {
      const topupId = await toBeApproved(dies);
      await assert.rejects(look(topupId), /died/);
      const page_asked_at = new Date(Date.now() - paymentLimits.chargeKeyMs - 60_000);
      await lone.db('topups').where({ id: topupId }).update({ page_asked_at });
      assert.equal((await look(topupId)).status, 'failed');
      assert.equal(lone.processor.argsOf('createCheckoutSession').length, 1, 'another could be paid too');
      assert.deepEqual(await mails(), ['Your top-up of $25.00 failed']);
    });
  });

  it('is not given up with its opening: the page may be open', async () => {
    const topupId = await ask();
    lone.processor.answers = {
      ...needingOwner(topupId, dies),
    };
    await assert.rejects(open(topupId), /died/);
    await lone.run('abandonTopup', topupId, 'It took too long.');
    assert.deepEqual([(await row(topupId)).status, (await row(topupId)).error], ['creating', null]);
    lone.processor.answers = { createCheckoutSession: () => Promise.resolve(pageOf(topupId)) };
    assert.equal((await look(topupId)).status, 'requires_payment');
  });

  it('is asked for no page where it was ended meanwhile', async () => {
    const topupId = await ask();
    lone.processor.answers = {
      ...needingOwner(topupId, () => Promise.resolve(pageOf(topupId))),
      cancelPayment: async () => {
        await endTopup(lone.db, topupId, { status: 'failed', error: 'It is over.' });
        return unpaid(topupId, 'canceled');
      },
    };
    await assert.rejects(open(topupId), { type: 'temporarily_unavailable', message: 'It is over.' });
    assert.deepEqual(lone.processor.names, ['chargeSavedCard', 'cancelPayment']);
  });
});
