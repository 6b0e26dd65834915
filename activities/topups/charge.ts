import { becomePage, endTopup, keepProcessing } from '../../money/topups/topups.js';
import { markDetached } from '../../adapters/postgres/payments/saved-cards.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import type { Payment, ProcessorError } from '../../adapters/processor/processor.js';
import { charge, declineCodeOf, isGone } from '../payments/charge-card.js';
import type { ActivityDeps } from '../deps.js';
import { settlePayment } from '../payments/settle-payment.js';

/**
 * - decided: the row says what it came to.
 * - needs_page: nothing was charged, and it can't be without the card's owner.
 */
export type ChargeOutcome = 'decided' | 'needs_page';

/**
 * Charges the saved card of a top-up whose charge was marked as sent, and writes down what came of it. However
 * often it is called, it is the same charge.
 * @throws ProcessorError `unknown`: call it again
 */
export async function settleCharge(deps: ActivityDeps, topup: TopupRow): Promise<ChargeOutcome> {
  const charged = await charge(deps, topup);
  switch (charged.kind) {
    case 'payment':
      return settleCharged(deps, topup, charged.payment);
    case 'declined':
      return decline(deps, topup, charged.declineCode, charged.paymentId);
    case 'refused':
      return refuse(deps, topup, charged.error);
    case 'none':
      await end(
        deps,
        topup,
        'The charge never reached the payment processor. Nothing was charged: try again.',
      );
      return 'decided';
  }
}

async function settleCharged(deps: ActivityDeps, topup: TopupRow, payment: Payment): Promise<ChargeOutcome> {
  switch (payment.status) {
    case 'succeeded':
      await settlePayment(deps, topup, payment);
      return 'decided';
    case 'processing':
      await keepProcessing(deps.db, topup.id, payment.paymentId);
      return 'decided';
    case 'requires_action':
      return askOwner(deps, topup, payment.paymentId);
    case 'failed':
      return decline(deps, topup, declineCodeOf(payment.failure), payment.paymentId);
    case 'canceled':
      await end(deps, topup, 'The payment was cancelled. Nothing was charged: try again.');
      return 'decided';
  }
}

async function decline(
  deps: ActivityDeps,
  topup: TopupRow,
  declineCode: string,
  paymentId: string | null,
): Promise<ChargeOutcome> {
  if (declineCode === 'authentication_required') return askOwner(deps, topup, paymentId);
  await endTopup(deps.db, topup.id, {
    status: 'failed',
    error: 'The bank declined the card. Use another card.',
    declineCode,
  });
  return 'decided';
}

/** The bank wants to ask the card's owner: the attempt is cancelled, and he pays on the page (decision 32). */
async function askOwner(
  deps: ActivityDeps,
  topup: TopupRow,
  paymentId: string | null,
): Promise<ChargeOutcome> {
  if (paymentId !== null) {
    const { status } = await deps.processor.cancelPayment(paymentId);
    if (status !== 'canceled') {
      // It went on meanwhile: its next look finds out how.
      await keepProcessing(deps.db, topup.id, paymentId);
      return 'decided';
    }
  }
  await becomePage(deps.db, topup.id);
  return 'needs_page';
}

/** Nothing was charged: the card is gone at the processor, or the service itself is not allowed to charge. */
async function refuse(deps: ActivityDeps, topup: TopupRow, error: ProcessorError): Promise<ChargeOutcome> {
  if (topup.pm_id !== null && (await isGone(deps, topup.pm_id))) {
    await markDetached(deps.db, topup.pm_id);
    await becomePage(deps.db, topup.id);
    return 'needs_page';
  }
  deps.log.error(
    { err: error, topupId: topup.id },
    'the processor refused a charge: the service can’t charge',
  );
  await end(deps, topup, 'The payment processor refused the charge. Nothing was charged: ask support.');
  return 'decided';
}

async function end(deps: ActivityDeps, topup: TopupRow, error: string): Promise<void> {
  await endTopup(deps.db, topup.id, { status: 'failed', error });
}
