import { ensureCustomer } from './customer.js';
import type { ActivityDeps } from './deps.js';
import { answeringRefusals } from './refusals.js';
import { listUnhandledEvents, markHandled } from '../adapters/postgres/event-handling.js';
import { creditTopup } from '../adapters/postgres/money/topup-credit.js';
import { refuseWhenLate } from '../adapters/postgres/open-guards.js';
import type { Database } from '../adapters/postgres/database.js';
import type { TopupRow } from '../adapters/postgres/tables.js';
import type { CheckoutSession } from '../adapters/processor/processor.js';
import type { TopupId } from '../domain/ids.js';
import { Refusal } from '../domain/refusal.js';
import type { TopupInput } from '../workflows/topup-contract.js';

export type TopupLook = {
  /** waiting: nothing is decided yet. closed: credited, or over with nothing paid. */
  readonly state: 'missing' | 'waiting' | 'closed';
  readonly status: string;
  readonly summary: string;
};

/** The activities of a top-up. The row is the state; the processor is asked what happened, never guessed. */
export function createTopupActivities(deps: ActivityDeps) {
  const { db } = deps;
  return {
    /**
     * Opens a hosted payment page for a top-up, once: the processor's answer to the same top-up is the same page.
     * @throws ApplicationFailure `billing_disabled`
     */
    async openTopup(topupId: TopupId, open: NonNullable<TopupInput['open']>): Promise<{ topupId: TopupId }> {
      return answeringRefusals(async () => {
        if (!deps.processor.enabled)
          throw new Refusal('billing_disabled', 'Payments are not configured here.');
        const topup = await ensureTopup(db, topupId, open);
        if (topup.session_id !== null) return { topupId };
        const customerId = await ensureCustomer(deps, open.userId);
        const session = await deps.processor.createCheckoutSession({
          topupId,
          userId: open.userId,
          customerId,
          amountCents: open.amountCents,
          successUrl: deps.settings.checkoutUrls.success,
          cancelUrl: deps.settings.checkoutUrls.cancel,
        });
        await db('topups').where({ id: topupId, status: 'creating' }).update({
          status: 'requires_payment',
          session_id: session.sessionId,
          checkout_url: session.url,
          session_expires_at: session.expiresAt,
        });
        return { topupId };
      });
    },

    /** Reads what became of the payment at the processor and writes it down: credits once, or ends the top-up. */
    async lookAtTopup(topupId: TopupId): Promise<TopupLook> {
      const topup = await db('topups').where({ id: topupId }).first();
      if (!topup) return { state: 'missing', status: 'missing', summary: 'no such top-up' };
      const events = await listUnhandledEvents(db, topupId);
      if (topup.session_id !== null && topup.credited_at === null) {
        await settleSession(deps, topup, await deps.processor.getCheckoutSession(topup.session_id));
      }
      // Only what was stored before the processor was asked is handled by its answer.
      await markHandled(db, events, 'the top-up was brought up to date');
      return lookOf(db, topupId);
    },

    /** The page could not be opened in time: the top-up is over, unless a page exists after all. */
    async abandonTopup(topupId: TopupId, error: string): Promise<void> {
      await db('topups')
        .where({ id: topupId, status: 'creating' })
        .update({ status: 'failed', error, closed_at: db.raw('clock_ms()') });
    },
  };
}

async function ensureTopup(
  db: Database,
  topupId: TopupId,
  open: NonNullable<TopupInput['open']>,
): Promise<TopupRow> {
  return db.transaction(async (trx) => {
    const existing = await trx('topups').where({ id: topupId }).first();
    if (existing) return existing;
    await refuseWhenLate(trx, open.answerBefore);
    const wallet = await trx('wallets').where({ user_id: open.userId }).first('id');
    if (!wallet) throw new Error(`no wallet of ${open.userId}`);
    const [row] = await trx('topups')
      .insert({
        id: topupId,
        user_id: open.userId,
        wallet_id: wallet.id,
        amount_cents: open.amountCents,
        status: 'creating',
      })
      .returning('*');
    if (!row) throw new Error('inserting a top-up answered no row');
    return row;
  });
}

async function settleSession(deps: ActivityDeps, topup: TopupRow, session: CheckoutSession): Promise<void> {
  const { db } = deps;
  const { payment } = session;
  if (payment?.status === 'succeeded') {
    if (payment.currency === 'usd') {
      await creditTopup(db, topup.id, payment);
      return;
    }
    const error = `paid in ${payment.currency}: credit it by hand`;
    deps.log.error(
      { topupId: topup.id, paymentId: payment.paymentId, error },
      'a payment is parked for operators',
    );
    await db('topups')
      .where({ id: topup.id })
      .update({
        status: 'processing',
        payment_id: payment.paymentId,
        error,
        closed_at: db.raw('clock_ms()'),
      });
    return;
  }
  if (payment?.status === 'processing') {
    await db('topups').where({ id: topup.id }).whereNull('closed_at').update({ status: 'processing' });
  } else if (session.status === 'expired') {
    await db('topups')
      .where({ id: topup.id })
      .whereNull('closed_at')
      .update({ status: 'expired', closed_at: db.raw('clock_ms()') });
  }
}

async function lookOf(db: Database, topupId: TopupId): Promise<TopupLook> {
  const topup = await db('topups').where({ id: topupId }).first();
  if (!topup) throw new Error(`top-up ${topupId} vanished`);
  return {
    state: topup.closed_at === null ? 'waiting' : 'closed',
    status: topup.status,
    summary: `${topup.status}: ${topup.credited_cents ?? topup.amount_cents} cents${topup.error === null ? '' : `; ${topup.error}`}`,
  };
}
