import { markDetached } from '../../adapters/postgres/payments/saved-cards.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { becomePage, endTopup, recordProcessing } from '../../money/topups/topups.js';
import type { ActivityDeps } from '../deps.js';
import { chargeByPolicy } from '../payments/charge-card.js';
import type { ChargePolicy } from '../payments/classify-charge.js';
import { settlePayment } from '../payments/settle-payment.js';

/**
 * - decided: the row says the result.
 * - needs_page: nothing was charged, and nothing can be charged without the card's owner.
 */
export type ChargeOutcome = 'decided' | 'needs_page';

/**
 * Charges the saved card of a top-up whose charge was marked as sent, and records the result. However often it is
 * called, it is the same charge.
 * @throws ProcessorError where the processor has not decided it: call it again
 */
export async function chargeTopup(deps: ActivityDeps, topup: TopupRow): Promise<ChargeOutcome> {
  return chargeByPolicy(deps, topup, policy);
}

/**
 * The user has asked for the top-up and is present. They may pay on the page what the saved card does not pay (decision
 * 32, "Checkout and credit").
 */
const policy: ChargePolicy<ChargeOutcome> = {
  async paid(deps, topup, { payment }) {
    await settlePayment(deps, topup, payment);
    return 'decided';
  },

  async processing({ db }, topup, { paymentId }) {
    await recordProcessing(db, topup.id, paymentId);
    return 'decided';
  },

  /** Cancels the attempt first, so that the card's owner can't approve it and pay on the page as well. */
  async approval_needed(deps, topup, { paymentId }) {
    if (paymentId !== null) {
      const { status } = await deps.processor.cancelPayment(paymentId);
      if (status !== 'canceled') {
        // The attempt went on meanwhile: its next look finds out how.
        await recordProcessing(deps.db, topup.id, paymentId);
        return 'decided';
      }
    }
    return payOnPage(deps, topup);
  },

  async declined({ db }, topup, { declineCode }) {
    const error = 'The bank declined the card. Use another card.';
    await endTopup(db, topup.id, { status: 'failed', error, declineCode });
    return 'decided';
  },

  canceled: (deps, topup) =>
    endFailed(deps, topup, 'The payment was cancelled. You were not charged. Try again.'),

  async card_gone(deps, topup, { cardId }) {
    await markDetached(deps.db, cardId);
    return payOnPage(deps, topup);
  },

  async refused(deps, topup, { error }) {
    deps.log.error(
      { err: error, topupId: topup.id },
      'the processor refused a charge: the service can’t charge',
    );
    return endFailed(
      deps,
      topup,
      'The payment processor refused the charge. You were not charged. Contact support.',
    );
  },

  never_left: (deps, topup) =>
    endFailed(
      deps,
      topup,
      'The charge never reached the payment processor. You were not charged. Try again.',
    ),
};

async function payOnPage({ db }: ActivityDeps, topup: TopupRow): Promise<ChargeOutcome> {
  await becomePage(db, topup.id);
  return 'needs_page';
}

async function endFailed({ db }: ActivityDeps, topup: TopupRow, error: string): Promise<ChargeOutcome> {
  await endTopup(db, topup.id, { status: 'failed', error });
  return 'decided';
}
