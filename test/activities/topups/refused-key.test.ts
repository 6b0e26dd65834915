import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { TopupRow } from '../../../adapters/postgres/rows/tables.js';
import { anotherAccount, ProcessorError } from '../../../adapters/processor/processor.js';
import type { TopupId, UserId } from '../../../domain/ids.js';
import { AMOUNT, AutoTopups, BALANCE, paying } from '../../support/activities/auto-topups.js';
import { pageOf, paymentOf } from '../../support/activities/scripted-processor.js';
import { insertSavedCard, insertUser } from '../../support/money/factories.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { getWallet } from '../../support/money/money.js';

const inTime = '2099-01-01T00:00:00.000Z';
const past = new Date(0);

/** What the processor says of our key, whatever was asked: decision 95, "Outages of a peer". */
const wordsOfKey = {
  'a key that it does not know': { status: 401 },
  'a key without the right': { status: 403 },
  'no key': { code: 'billing_disabled' },
  'a key of another account': { code: anotherAccount },
};

for (const [which, details] of Object.entries(wordsOfKey)) {
  describe(`the processor that refuses ${which}`, () => {
    const ofKey = new ProcessorError('refused', 'not with this key', details);
    const refuse = () => Promise.reject(ofKey);
    let topups: AutoTopups;
    before(async () => {
      topups = await AutoTopups.start();
    });
    beforeEach(() => {
      topups.lone.processor.reset();
      topups.lone.alarms.length = 0;
    });
    afterEach(async () => {
      assert.deepEqual(await verifyLedgerAgain(topups.lone.db), [], 'every wallet adds up');
    });
    after(() => topups.lone.close());

    const row = async (id: TopupId): Promise<TopupRow> => {
      const found = await topups.lone.db('topups').where({ id }).first();
      assert.ok(found);
      return found;
    };
    const available = async (userId: UserId) => (await getWallet(topups.lone.db, userId)).available_cents;
    const open = (topupId: TopupId) => topups.lone.run('openTopup', topupId, { answerBefore: inTime });
    const look = (topupId: TopupId) => topups.lone.run('lookAtTopup', topupId);

    /** A user with a saved card who asks for a top-up. */
    async function ask(expYear = 2099): Promise<{ topupId: TopupId; userId: UserId; amountCents: number }> {
      const { db } = topups.lone;
      const topupId = newId('top');
      const { id: userId } = await insertUser(db, { processor_customer_id: `cus_${topupId}` });
      await insertSavedCard(db, userId, {
        ...{ pm_id: `pm_${topupId}`, exp_year: expYear, fingerprint: `fp_${topupId}` },
      });
      const answer_before = new Date(inTime);
      await db('topup_requests').insert({
        id: topupId,
        user_id: userId,
        amount_cents: AMOUNT,
        answer_before,
      });
      return { topupId, userId, amountCents: AMOUNT };
    }

    it('leaves auto-topup on and its attempt open, asks nobody for another card, and charges once it may', async () => {
      const userId = await topups.due();
      const { db, processor } = topups.lone;
      processor.answers = { chargeSavedCard: refuse };
      await assert.rejects(topups.look(userId), ofKey);
      const [attempt] = (await topups.attempts(userId)) as [TopupRow];
      assert.deepEqual([attempt.status, attempt.closed_at], ['processing', null]);
      assert.equal((await topups.settings(userId)).enabled, true);
      assert.equal(await topups.isAwaited(userId), true, 'machines wait for what may have been charged');
      assert.deepEqual(await db('invoices').where({ user_id: userId }), []);
      const user = await db('users').where({ id: userId }).first();
      assert.deepEqual(await db('mail_outbox').where({ recipient: user!.email }), []);

      processor.answers = { chargeSavedCard: paying() };
      await topups.look(userId);
      const [first, second] = processor.argsOf('chargeSavedCard');
      assert.deepEqual(second, first, 'by which the processor knows that it is the same');
      assert.equal(await topups.available(userId), BALANCE + AMOUNT);
    });

    it('says nothing of a card: it is not known that the processor has it no longer', async () => {
      const userId = await topups.due();
      const { processor } = topups.lone;
      const refused = new ProcessorError('refused', 'no such card', {
        code: 'resource_missing',
        status: 404,
      });
      processor.answers = { chargeSavedCard: () => Promise.reject(refused), getCard: refuse };
      await assert.rejects(topups.look(userId), ofKey);
      assert.equal((await topups.attempts(userId))[0]?.closed_at, null);
      assert.equal((await topups.settings(userId)).enabled, true);
    });

    it('tells nobody that they were not charged when the try before may have charged them', async () => {
      const asked = await ask();
      const { topupId, userId } = asked;
      const { db, processor, runAgain } = topups.lone;
      processor.answers = {
        chargeSavedCard: () => Promise.reject(new ProcessorError('unknown', 'too late')),
      };
      await assert.rejects(open(topupId), { kind: 'unknown' });
      processor.answers = { chargeSavedCard: refuse };
      await assert.rejects(runAgain('openTopup', topupId, { answerBefore: inTime }), ofKey);
      await assert.rejects(look(topupId), ofKey);
      await db('topup_requests').where({ id: topupId }).update({ answer_before: past });
      const late = await runAgain('openTopup', topupId, { answerBefore: inTime });
      assert.deepEqual(late, { topupId }, 'who waits is answered: it is being processed');
      const { status, error } = await row(topupId);
      assert.deepEqual([status, error], ['processing', null]);

      processor.answers = { chargeSavedCard: () => Promise.resolve(paymentOf(asked)) };
      assert.equal((await look(topupId)).status, 'succeeded');
      assert.equal(await available(userId), AMOUNT);
    });

    it('ends no page that may be open, and opens it once it may', async () => {
      const { topupId } = await ask(2020);
      const { processor } = topups.lone;
      processor.answers = { createCheckoutSession: () => Promise.reject(new Error('the worker died')) };
      await assert.rejects(open(topupId), /died/);
      processor.answers = { createCheckoutSession: refuse };
      await assert.rejects(look(topupId), ofKey);
      assert.equal((await row(topupId)).closed_at, null);
      processor.answers = { createCheckoutSession: () => Promise.resolve(pageOf(topupId)) };
      assert.equal((await look(topupId)).status, 'requires_payment');
    });
  });
}
