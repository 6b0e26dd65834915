import { ensureCustomer } from '../../adapters/customer-of-user.js';
import { isOlder } from '../../adapters/postgres/clock.js';
import { countEndingDeclines } from '../../adapters/postgres/payments/declines.js';
import { endTopup, recordPage, recordProcessing, markPageAsked } from '../../money/topups/topups.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { saidNo, type CheckoutSession } from '../../adapters/processor/processor.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { Refusal } from '../../domain/refusal.js';
import { settlePayment } from '../payments/settle-payment.js';
import type { ActivityDeps } from '../deps.js';

/**
 * Opens the hosted payment page of a top-up, once: the processor answers the same top-up with the same page.
 * @param answerBefore instant by the database's clock; after it the page is not asked for any more (decision 82,
 *   "Honest checkout failures")
 * @throws Refusal temporarily_unavailable when it is too late
 */
export async function openPage(deps: ActivityDeps, topup: TopupRow, answerBefore?: string): Promise<void> {
  const customerId = await ensureCustomer(deps, topup.user_id);
  // Noted right before the call: unless it is noted, the waiting caller is told that nothing was done, and a later look
  // does not know how old the page's key is.
  if (!(await markPageAsked(deps.db, topup.id, answerBefore))) {
    // The top-up is over, or has its page.
    if (answerBefore === undefined) return;
    throw new Refusal('temporarily_unavailable', 'We could not open the payment page in time. Try again.');
  }
  const session = await deps.processor.createCheckoutSession({
    topupId: topup.id,
    userId: topup.user_id,
    customerId,
    amountCents: topup.amount_cents,
    successUrl: deps.settings.checkoutUrls.success,
    cancelUrl: deps.settings.checkoutUrls.cancel,
  });
  await recordPage(deps.db, topup.id, session);
}

/**
 * Opens a page that nobody waits for any more: it was asked for and its answer never came, or a charge turned out late to
 * need its owner. Its key makes it the same page. The caller was told to look at the top-up, which shows the page from
 * then on.
 */
export async function resumePage(deps: ActivityDeps, topup: TopupRow): Promise<void> {
  // The processor forgets the key: now the same call would open a page that nobody asks for any more.
  if (await isKeyForgotten(deps, topup)) return endUnopened(deps, topup);
  try {
    await openPage(deps, topup);
  } catch (error) {
    if (!saidNo(error)) throw error;
    deps.log.error({ err: error, topupId: topup.id }, 'the processor refuses to open a payment page');
    await endUnopened(deps, topup);
  }
}

async function isKeyForgotten({ db }: ActivityDeps, { page_asked_at: askedAt }: TopupRow): Promise<boolean> {
  return askedAt !== null && (await isOlder(db, askedAt, paymentLimits.chargeKeyMs));
}

async function endUnopened(deps: ActivityDeps, topup: TopupRow): Promise<void> {
  const error = 'We could not open the payment page. You were not charged. Try again.';
  await endTopup(deps.db, topup.id, { status: 'failed', error });
}

/** Reads from the processor what became of a page and records it: credits once, or ends the top-up. */
export async function settlePage(deps: ActivityDeps, topup: TopupRow, sessionId: string): Promise<void> {
  const { db } = deps;
  const seen = await deps.processor.getCheckoutSession(sessionId);
  const session = (await isTriedOut(deps, topup, seen))
    ? await deps.processor.expireCheckoutSession(sessionId)
    : seen;
  const { payment } = session;
  if (payment?.status === 'succeeded') {
    await settlePayment(deps, topup, payment);
  } else if (payment?.status === 'processing') {
    // The payment's id is kept only once the page is paid: on an open page the payer may still begin another payment.
    await recordProcessing(db, topup.id, null);
  } else if (session.status === 'expired') {
    await endTopup(db, topup.id, { status: 'expired' });
  } else if (session.status === 'complete' && payment !== null) {
    // The page took the payment, and the bank refused it later.
    await endTopup(db, topup.id, { status: 'failed', error: 'The payment failed. Start another top-up.' });
  }
}

/** Says whether an open page ends because of the cards that were declined on it (decision 128, "Trying of cards"). */
async function isTriedOut(deps: ActivityDeps, topup: TopupRow, page: CheckoutSession): Promise<boolean> {
  if (page.status !== 'open' || page.payment?.status === 'processing') return false;
  const declines = await countEndingDeclines(
    deps.db,
    { topupId: topup.id },
    {
      perPage: deps.settings.declinesPerPage ?? paymentLimits.declinesPerPage,
      perDay: paymentLimits.declinesPerDay,
    },
  );
  if (declines === 0) return false;
  deps.log.warn(
    { topupId: topup.id, userId: topup.user_id, declines },
    'a payment page ends: cards were declined on it',
  );
  return true;
}
