import { listUnhandledEvents, markHandled } from '../../adapters/postgres/payments/event-handling.js';
import { findCredit } from '../../adapters/postgres/payments/credits.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import type { ActivityDeps } from '../deps.js';
import { settleByMetadata } from './settle-payment.js';

/** The activity of payments that name a user and no top-up of theirs. */
export function createStrayPaymentActivities(deps: ActivityDeps) {
  return {
    /** Credits a payment to the user of its metadata, once, or puts it aside for operators. */
    async lookAtPayment(paymentId: string): Promise<EventLook> {
      return advanceStrayPayment(deps, paymentId);
    },
  };
}

async function advanceStrayPayment(deps: ActivityDeps, paymentId: string): Promise<EventLook> {
  const { db } = deps;
  const events = await listUnhandledEvents(db, paymentId);
  if (events.length > 0 && !(await findCredit(db, paymentId))) {
    await settleByMetadata(deps, await deps.processor.getPayment(paymentId));
  }
  const credit = await findCredit(db, paymentId);
  const summary = credit ? `credited ${credit.creditedCents} cents to ${credit.userId}` : 'not credited';
  await markHandled(db, events, summary);
  return {
    state: credit ? 'closed' : 'missing',
    status: credit ? 'credited' : 'not_credited',
    summary,
  };
}
