import { ensureCustomer } from '../adapters/customer-of-user.js';
import { endTopup, keepPage, keepProcessing } from '../adapters/postgres/money/topups.js';
import type { TopupRow } from '../adapters/postgres/tables.js';
import { settlePayment } from './payments.js';
import type { ActivityDeps } from './deps.js';

/** Opens the hosted payment page of a top-up, once: the processor's answer to the same top-up is the same page. */
export async function openPage(deps: ActivityDeps, topup: TopupRow): Promise<void> {
  const customerId = await ensureCustomer(deps, topup.user_id);
  const session = await deps.processor.createCheckoutSession({
    topupId: topup.id,
    userId: topup.user_id,
    customerId,
    amountCents: topup.amount_cents,
    successUrl: deps.settings.checkoutUrls.success,
    cancelUrl: deps.settings.checkoutUrls.cancel,
  });
  await keepPage(deps.db, topup.id, session);
}

/** Reads what became of a page at the processor and writes it down: credits once, or ends the top-up. */
export async function settlePage(deps: ActivityDeps, topup: TopupRow, sessionId: string): Promise<void> {
  const { db } = deps;
  const session = await deps.processor.getCheckoutSession(sessionId);
  const { payment } = session;
  if (payment?.status === 'succeeded') {
    await settlePayment(deps, topup, payment);
  } else if (payment?.status === 'processing') {
    // Its id is kept once it is paid: on an open page the payer may yet begin another payment.
    await keepProcessing(db, topup.id, null);
  } else if (session.status === 'expired') {
    await endTopup(db, topup.id, { status: 'expired' });
  } else if (session.status === 'complete' && payment !== null) {
    // The page took the payment, and the bank refused it afterwards.
    await endTopup(db, topup.id, { status: 'failed', error: 'The payment failed. Begin another top-up.' });
  }
}
