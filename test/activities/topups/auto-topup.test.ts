import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { TopupRow } from '../../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { ProcessorError, type Card, type ProcessorInvoice } from '../../../adapters/processor/processor.js';
import type { UserId } from '../../../domain/ids.js';
import { paymentLimits } from '../../../domain/payments/limits.js';
import { autoTopupWorkflowId } from '../../../domain/payments/processor-routes.js';
import { creditUser } from '../../../money/payments/credit.js';
import {
  AMOUNT,
  AutoTopups,
  BALANCE,
  COOLDOWN_MS,
  paying,
  unpaid,
} from '../../support/activities/auto-topups.js';
import { dyingOnce, paymentOf } from '../../support/activities/scripted-processor.js';

const quiet = (why: string) => ({ state: 'closed', status: 'quiet', summary: why });

describe('lookAtAutoTopup when a charge is due', () => {
  let topups: AutoTopups;
  before(async () => {
    topups = await AutoTopups.start();
  });
  beforeEach(() => topups.lone.processor.reset());
  after(() => topups.lone.close());
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(topups.lone.db), [], 'every wallet adds up');
  });

  /** What is there after a charge that failed: auto-topup is off, and one offer to pay it. */
  async function assertFailed(userId: UserId, declineCode: string, mails: number): Promise<void> {
    const [attempt, ...others] = await topups.attempts(userId);
    assert.deepEqual(others, []);
    assert.deepEqual([attempt?.status, attempt?.decline_code], ['failed', declineCode]);
    assert.equal((await topups.settings(userId)).enabled, false);
    const offers = await topups.lone
      .db('invoices')
      .where({ user_id: userId })
      .select('reason', 'amount_cents');
    assert.deepEqual(offers, [{ reason: 'topup_failed', amount_cents: AMOUNT }]);
    const user = await topups.lone.db('users').where({ id: userId }).first();
    const told = await topups.lone.db('mail_outbox').where({ recipient: user!.email });
    const asked = Array<string>(mails).fill('Your automatic top-up failed: please update your card');
    const subjects = told.map(({ subject }) => subject);
    assert.deepEqual(subjects, asked);
    assert.equal(await topups.available(userId), BALANCE);
    assert.equal(await topups.isAwaited(userId), false, 'machines whose money is over end');
  }

  it('charges the saved card once and credits it once, then cools down', async () => {
    const userId = await topups.due();
    topups.lone.processor.answers = { chargeSavedCard: paying() };
    const seen = await topups.look(userId);
    const [attempt] = await topups.attempts(userId);
    assert.deepEqual(topups.lone.processor.asked, [
      [
        'chargeSavedCard',
        {
          topupId: attempt?.id,
          userId,
          customerId: `cus_${userId}`,
          cardId: `pm_${userId}`,
          amountCents: AMOUNT,
          source: 'auto_topup',
        },
      ],
    ]);
    assert.deepEqual([seen.state, seen.status], ['waiting', 'cooling']);
    assert.ok(seen.nextLookMs! > 0 && seen.nextLookMs! <= COOLDOWN_MS);
    const { next_attempt_at: next } = await topups.settings(userId);
    const fromStartMs = next!.getTime() - attempt!.created_at.getTime();
    assert.ok(fromStartMs > 0 && fromStartMs <= COOLDOWN_MS, `${fromStartMs} ms from the attempt’s start`);
    assert.equal(await topups.isAwaited(userId), false);
    await topups.look(userId);
    await topups.coolDown(userId);
    assert.deepEqual(await topups.look(userId), quiet(`${BALANCE + AMOUNT} cents are available`));
    assert.equal(topups.lone.processor.asked.length, 1);
    assert.equal(await topups.available(userId), BALANCE + AMOUNT);
  });

  it('makes the same charge again when it died after the call and before the commit, and credits it once', async () => {
    const userId = await topups.due();
    topups.lone.processor.answers = { chargeSavedCard: dyingOnce(paying()) };
    await assert.rejects(topups.look(userId), /died/);
    assert.equal(await topups.available(userId), BALANCE);
    assert.equal(await topups.isAwaited(userId), true, 'machines wait for what may have been charged');
    await topups.look(userId);
    const [first, second] = topups.lone.processor.argsOf('chargeSavedCard');
    assert.deepEqual(second, first, 'by which the processor knows that it is the same');
    assert.equal((await topups.attempts(userId)).length, 1);
    assert.equal(await topups.available(userId), BALANCE + AMOUNT);
  });

  it('goes on with what has left though it was switched off meanwhile, and is closed then', async () => {
    const userId = await topups.due();
    topups.lone.processor.answers = { chargeSavedCard: dyingOnce(paying()) };
    await assert.rejects(topups.look(userId), /died/);
    await topups.lone.db('auto_topups').where({ user_id: userId }).update({ enabled: false });
    assert.deepEqual(
      [(await topups.look(userId)).state, await topups.available(userId)],
      ['closed', BALANCE + AMOUNT],
    );
  });

  it('looks the charge up when the processor has forgotten its key, and charges nothing anew', async () => {
    const found = await topups.due();
    const lost = await topups.due();
    topups.lone.processor.answers = { chargeSavedCard: () => Promise.reject(new Error('the worker died')) };
    for (const userId of [found, lost]) await assert.rejects(topups.look(userId), /died/);
    const old = new Date(Date.now() - paymentLimits.chargeKeyMs - 60_000);
    await topups.lone.db('topups').whereIn('user_id', [found, lost]).update({ charge_sent_at: old });
    topups.lone.processor.reset();
    const [{ id: topupId }] = (await topups.attempts(found)) as [TopupRow];
    topups.lone.processor.answers = {
      findPaymentOfTopup: (told) =>
        Promise.resolve(
          told.topupId === topupId ? paymentOf({ topupId, userId: found, amountCents: AMOUNT }) : null,
        ),
    };
    await topups.look(found);
    assert.equal(await topups.available(found), BALANCE + AMOUNT);

    await topups.look(lost);
    const [dropped] = await topups.attempts(lost);
    assert.deepEqual([dropped?.status, await topups.available(lost)], ['failed', BALANCE]);
    assert.equal((await topups.settings(lost)).enabled, true, 'nothing is wrong with the card');
    assert.deepEqual(await topups.lone.db('invoices').where({ user_id: lost }), []);
    assert.deepEqual(topups.lone.processor.names, ['findPaymentOfTopup', 'findPaymentOfTopup']);
  });

  it('charges nothing again for a payer who was marked after the first try', async () => {
    const userId = await topups.due();
    topups.lone.processor.answers = { chargeSavedCard: () => Promise.reject(new Error('the worker died')) };
    await assert.rejects(topups.look(userId), /died/);
    await topups.lone.db('charge_marks').insert({
      id: `fw_${userId}`,
      kind: 'early_fraud_warning',
      charge_id: `ch_${userId}`,
      fingerprint: `fp_${userId}`,
    });
    topups.lone.processor.answers = { findPaymentOfTopup: () => Promise.resolve(null) };
    await topups.look(userId);
    assert.deepEqual(topups.lone.processor.names, ['chargeSavedCard', 'findPaymentOfTopup']);
    assert.equal((await topups.attempts(userId))[0]?.status, 'failed');
  });

  it('is to be called again when the processor did not tell what became of the charge, and stays on', async () => {
    const userId = await topups.due();
    const unknown = new ProcessorError('unknown', 'no answer');
    topups.lone.processor.answers = { chargeSavedCard: () => Promise.reject(unknown) };
    await assert.rejects(topups.look(userId), unknown);
    const [attempt] = await topups.attempts(userId);
    assert.equal(attempt?.closed_at, null, 'it may have been charged');
    assert.equal((await topups.settings(userId)).enabled, true);
  });

  it('asks after the payment while the bank decides, and credits it once it has', async () => {
    const userId = await topups.due();
    topups.lone.processor.answers = { chargeSavedCard: unpaid('processing') };
    assert.deepEqual(
      [(await topups.look(userId)).status, await topups.isAwaited(userId)],
      ['processing', true],
    );
    const [attempt] = (await topups.attempts(userId)) as [TopupRow];
    const second = { ...attempt, id: newId('top'), payment_id: null };
    await assert.rejects(topups.lone.db('topups').insert(second), /topups_one_auto/, 'one is open at a time');
    const told = { topupId: attempt.id, userId, amountCents: AMOUNT };
    topups.lone.processor.answers = { getPayment: () => unpaid('processing')(told) };
    assert.equal((await topups.look(userId)).state, 'waiting');
    topups.lone.processor.answers = { getPayment: () => paying()(told) };
    assert.equal((await topups.look(userId)).status, 'cooling');
    assert.deepEqual(topups.lone.processor.names, ['chargeSavedCard', 'getPayment', 'getPayment']);
    assert.equal(await topups.available(userId), BALANCE + AMOUNT);
  });

  it('fails once when the bank refuses after all', async () => {
    const userId = await topups.due();
    topups.lone.processor.answers = { chargeSavedCard: unpaid('processing') };
    await topups.look(userId);
    topups.lone.processor.answers = {
      getPayment: () => unpaid('canceled')({ topupId: '', userId, amountCents: 0 }),
    };
    assert.equal((await topups.look(userId)).state, 'closed');
    assert.deepEqual(await topups.look(userId), quiet('auto-topup is off'));
    await assertFailed(userId, 'canceled', 1);
  });

  it('goes off with the bank’s word when it declines, offers an invoice and mails it, once', async () => {
    const userId = await topups.due();
    const declined = new ProcessorError('declined', 'no', { declineCode: 'insufficient_funds' });
    topups.lone.processor.answers = { chargeSavedCard: () => Promise.reject(declined) };
    const { state, status } = await topups.look(userId);
    assert.deepEqual([state, status], ['closed', 'failed']);
    assert.deepEqual(await topups.look(userId), quiet('auto-topup is off'));
    assert.deepEqual(topups.lone.processor.names, ['chargeSavedCard']);
    await assertFailed(userId, 'insufficient_funds', 1);
  });

  it('leaves one open offer: a newer decline voids the older one, and a later top-up of that much voids it', async () => {
    const userId = await topups.due();
    const { db } = topups.lone;
    const offers = async () => {
      const rows = await db('invoices').where({ user_id: userId }).orderBy('id');
      return rows.map(({ amount_cents: cents, status }) => [cents, status]);
    };
    const declined = new ProcessorError('declined', 'no', { declineCode: 'lost_card' });
    topups.lone.processor.answers = { chargeSavedCard: () => Promise.reject(declined) };
    await topups.look(userId);
    await topups.change(userId, {
      ...{ enabled: true, disabled_why: null, topup_amount_cents: AMOUNT + 500 },
    });
    await topups.coolDown(userId);
    await topups.look(userId);
    assert.deepEqual(await offers(), [
      [AMOUNT, 'void'],
      [AMOUNT + 500, 'draft'],
    ]);
    const topup = { topupId: newId('top'), userId, amountCents: AMOUNT };
    await creditUser(db, userId, paymentOf(topup));
    assert.deepEqual((await offers())[1], [AMOUNT + 500, 'draft'], 'that was less');
    await creditUser(db, userId, paymentOf({ ...topup, topupId: newId('top'), amountCents: AMOUNT + 500 }));
    assert.deepEqual((await offers())[1], [AMOUNT + 500, 'void']);
  });

  it('fails once when it died after the bank declined and before the commit', async () => {
    const userId = await topups.due();
    const declined = new ProcessorError('declined', 'no', { declineCode: 'expired_card', paymentId: 'pi_1' });
    topups.lone.processor.answers = {
      chargeSavedCard: () => Promise.reject(declined),
      cancelPayment: dyingOnce(() => unpaid('canceled')({ topupId: '', userId, amountCents: 0 })),
    };
    await assert.rejects(topups.look(userId), /died/);
    await topups.look(userId);
    await assertFailed(userId, 'expired_card', 1);
  });

  it('cancels what waits for its owner’s approval, says that it is off, and mails the link once there is one', async () => {
    const userId = await topups.due();
    topups.lone.processor.answers = {
      chargeSavedCard: unpaid('requires_action', { paymentId: 'pi_waits' }),
      cancelPayment: () => unpaid('canceled')({ topupId: '', userId, amountCents: 0 }),
    };
    assert.equal((await topups.look(userId)).state, 'closed');
    assert.deepEqual(topups.lone.processor.argsOf('cancelPayment'), ['pi_waits']);
    await assertFailed(userId, 'authentication_required', 1);

    const { db } = topups.lone;
    const [offer] = await db('invoices').where({ user_id: userId });
    const mirror: ProcessorInvoice = {
      ...{ processorInvoiceId: `in_${offer!.id}`, status: 'open', totalCents: AMOUNT, amountPaidCents: 0 },
      ...{ currency: 'usd', hostedInvoiceUrl: `http://127.0.0.1/pay/${offer!.id}`, invoicePdfUrl: null },
      ...{ paymentId: null, paidAt: null, customerId: `cus_${userId}`, invoiceId: offer!.id },
    };
    topups.lone.processor.answers = {
      createInvoice: () => Promise.resolve({ ...mirror, status: 'draft' }),
      finalizeInvoice: () => Promise.resolve(mirror),
      getInvoice: () => Promise.resolve(mirror),
    };
    await topups.lone.run('lookAtInvoice', offer!.id, 86_400_000);
    const user = await db('users').where({ id: userId }).first();
    const [off, mail, ...more] = await db('mail_outbox').where({ recipient: user!.email }).orderBy('id');
    assert.ok(off?.body?.includes('Automatic top-ups are now off'));
    assert.equal(mail?.subject, 'Your bank wants you to approve an automatic top-up');
    assert.ok(mail.body?.includes(mirror.hostedInvoiceUrl!), mail.body ?? '');
    assert.deepEqual(more, []);
  });

  it('waits for a payment that its owner approved before it could be cancelled, and credits it', async () => {
    const userId = await topups.due();
    topups.lone.processor.answers = {
      chargeSavedCard: unpaid('requires_action', { paymentId: 'pi_approved' }),
      cancelPayment: () => paying({ paymentId: 'pi_approved' })({ topupId: '', userId, amountCents: AMOUNT }),
    };
    assert.equal((await topups.look(userId)).status, 'processing');
    assert.equal((await topups.settings(userId)).enabled, true);
    const [attempt] = (await topups.attempts(userId)) as [TopupRow];
    const told = { topupId: attempt.id, userId, amountCents: AMOUNT };
    topups.lone.processor.answers = { getPayment: (paymentId) => paying({ paymentId })(told) };
    await topups.look(userId);
    assert.deepEqual(topups.lone.processor.argsOf('getPayment'), ['pi_approved']);
    assert.equal(await topups.available(userId), BALANCE + AMOUNT);
  });

  describe('whose charge the processor refuses', () => {
    const refused = new ProcessorError('refused', 'no such card', { code: 'resource_missing', status: 404 });
    const cardOf = (userId: UserId, columns: Partial<Card> = {}): Card => ({
      cardId: `pm_${userId}`,
      customerId: `cus_${userId}`,
      brand: 'visa',
      last4: '4242',
      expMonth: 12,
      expYear: 2099,
      fingerprint: `fp_${userId}`,
      keptByConsent: false,
      ...columns,
    });

    it('goes off and keeps the card where the processor still has it', async () => {
      const userId = await topups.due();
      topups.lone.processor.answers = {
        chargeSavedCard: () => Promise.reject(refused),
        getCard: () => Promise.resolve(cardOf(userId)),
      };
      assert.equal((await topups.look(userId)).state, 'closed');
      await assertFailed(userId, 'refused', 1);
      assert.equal(
        (await topups.lone.db('saved_cards').where({ user_id: userId }).first())?.removed_at,
        null,
      );
    });

    const gone: Record<string, (userId: UserId) => Promise<Card>> = {
      'it is detached': (userId) => Promise.resolve(cardOf(userId, { customerId: null })),
      'it is not known': () => Promise.reject(refused),
    };
    for (const [which, getCard] of Object.entries(gone)) {
      it(`forgets the card that the processor has no longer: ${which}`, async () => {
        const userId = await topups.due();
        topups.lone.processor.answers = {
          chargeSavedCard: () => Promise.reject(refused),
          getCard: () => getCard(userId),
        };
        await topups.look(userId);
        await assertFailed(userId, 'card_removed', 1);
        const card = await topups.lone.db('saved_cards').where({ user_id: userId }).first();
        assert.equal(card?.removed_why, 'detached');
      });
    }
  });

  for (const why of ['user', 'replaced'] as const) {
    it(`blames nobody for a card that its user took away meanwhile (${why}): no mail, and no invoice`, async () => {
      const userId = await topups.due();
      const { db } = topups.lone;
      topups.lone.processor.answers = {
        chargeSavedCard: async () => {
          await db('saved_cards')
            .where({ user_id: userId })
            .update({ removed_at: new Date(), removed_why: why });
          throw new ProcessorError('refused', 'No such payment method', { code: 'resource_missing' });
        },
        getCard: () => Promise.reject(new ProcessorError('refused', 'none', { code: 'resource_missing' })),
      };
      await topups.look(userId);
      const [attempt] = await topups.attempts(userId);
      assert.deepEqual(
        [attempt?.status, attempt?.error],
        ['failed', 'The card was removed, so you were not charged.'],
      );
      assert.deepEqual(await db('invoices').where({ user_id: userId }), []);
      const user = await db('users').where({ id: userId }).first();
      assert.deepEqual(await db('mail_outbox').where({ recipient: user!.email }), []);
      assert.equal((await topups.settings(userId)).disabled_why, null);
      assert.equal(await topups.isAwaited(userId), false);
    });
  }

  it('learns what a card is known by before it charges it, where that was never asked', async () => {
    const userId = await topups.due();
    await topups.lone.db('saved_cards').where({ user_id: userId }).update({ fingerprint: null });
    await topups.lone.db('charge_marks').insert({
      id: `dp_${userId}`,
      kind: 'dispute',
      charge_id: `ch_${userId}`,
      fingerprint: 'fp_denied',
    });
    const card = { cardId: `pm_${userId}`, customerId: `cus_${userId}`, brand: 'visa', last4: '4242' };
    const learned = { expMonth: 12, expYear: 2099, fingerprint: 'fp_denied', keptByConsent: false };
    topups.lone.processor.answers = { getCard: () => Promise.resolve({ ...card, ...learned }) };
    assert.match((await topups.look(userId)).summary, /a payment was denied/);
    assert.deepEqual(topups.lone.processor.names, ['getCard']);
  });

  it('handles the events that were stored before it looked, and credits the payments that they name', async () => {
    const userId = await topups.due({ enabled: false });
    await topups.lone.db('processor_events').insert({
      id: `evt_${userId}`,
      kind: 'payment_intent.succeeded',
      created_at: new Date(),
      livemode: false,
      object: { object: 'payment_intent', id: `pi_${userId}` },
      workflow_id: autoTopupWorkflowId(userId),
      workflow_type: 'autoTopup',
    });
    const told = { topupId: newId('top'), userId, amountCents: AMOUNT };
    topups.lone.processor.answers = { getPayment: (paymentId) => paying({ paymentId })(told) };
    await topups.look(userId);
    await topups.look(userId);
    assert.equal(await topups.available(userId), BALANCE + AMOUNT, 'a top-up that this database has lost');
    assert.deepEqual(topups.lone.processor.argsOf('getPayment'), [`pi_${userId}`]);
    const event = await topups.lone
      .db('processor_events')
      .where({ id: `evt_${userId}` })
      .first();
    assert.notEqual(event?.handled_at, null);
  });
});
