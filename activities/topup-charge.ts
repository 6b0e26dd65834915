import { ensureCustomer } from '../adapters/customer-of-user.js';
import { readClock } from '../adapters/postgres/clock.js';
import { becomePage, endTopup, keepProcessing } from '../adapters/postgres/money/topups.js';
import { markDetached } from '../adapters/postgres/saved-cards.js';
import type { TopupRow } from '../adapters/postgres/tables.js';
import { ProcessorError, type Payment } from '../adapters/processor/processor.js';
import { limits } from '../domain/limits.js';
import type { ActivityDeps } from './deps.js';
import { settlePayment } from './payments.js';

/** What a charge of the saved card came to. */
type Charged =
  | { readonly kind: 'payment'; readonly payment: Payment }
  | { readonly kind: 'declined'; readonly declineCode: string; readonly paymentId: string | null }
  | { readonly kind: 'refused'; readonly error: ProcessorError }
  /** It was looked up, and never came to be. */
  | { readonly kind: 'none' };

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
  const charged =
    topup.payment_id === null
      ? await charge(deps, topup)
      : { kind: 'payment' as const, payment: await deps.processor.getPayment(topup.payment_id) };
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

async function charge(deps: ActivityDeps, topup: TopupRow): Promise<Charged> {
  const customerId = await ensureCustomer(deps, topup.user_id);
  if (await isOlderThanItsKey(deps, topup))
    return (await lookUp(deps, topup, customerId)) ?? { kind: 'none' };
  try {
    const payment = await deps.processor.chargeSavedCard({
      topupId: topup.id,
      userId: topup.user_id,
      customerId,
      cardId: topup.pm_id ?? '',
      amountCents: topup.amount_cents,
    });
    return { kind: 'payment', payment };
  } catch (error) {
    if (!(error instanceof ProcessorError)) throw error;
    if (error.kind === 'declined') return declinedOf(error);
    const found = repeatsItself(error) ? await lookUp(deps, topup, customerId) : undefined;
    if (found) return found;
    if (error.kind === 'refused') return { kind: 'refused', error };
    throw error;
  }
}

function declinedOf({ details }: ProcessorError): Charged {
  return {
    kind: 'declined',
    declineCode: declineCodeOf(details.declineCode, details.code),
    paymentId: details.paymentId ?? null,
  };
}

/** The processor forgets a key after a day: then the same request would be a second charge. */
async function isOlderThanItsKey(deps: ActivityDeps, topup: TopupRow): Promise<boolean> {
  const now = await readClock(deps.db);
  return now.getTime() - sentAt(topup).getTime() > limits.chargeKeyMs;
}

/** An error that is kept under the key and would be answered for a day, whether the charge was made or not. */
function repeatsItself({ kind, details }: ProcessorError): boolean {
  if (details.code === 'idempotency_error') return true;
  return kind === 'unknown' && details.status !== undefined && details.status >= 500;
}

async function lookUp(deps: ActivityDeps, topup: TopupRow, customerId: string): Promise<Charged | undefined> {
  const payment = await deps.processor.findPaymentOfTopup({
    customerId,
    topupId: topup.id,
    // The processor's clock may differ a little from the database's.
    createdFrom: new Date(sentAt(topup).getTime() - 60_000),
  });
  return payment === null ? undefined : { kind: 'payment', payment };
}

function sentAt(topup: TopupRow): Date {
  if (topup.charge_sent_at === null) throw new Error(`the charge of ${topup.id} was never marked as sent`);
  return topup.charge_sent_at;
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
      return decline(
        deps,
        topup,
        declineCodeOf(payment.failure?.declineCode, payment.failure?.code),
        payment.paymentId,
      );
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

async function isGone(deps: ActivityDeps, cardId: string): Promise<boolean> {
  try {
    return (await deps.processor.getCard(cardId)).customerId === null;
  } catch (error) {
    if (!(error instanceof ProcessorError) || error.kind !== 'refused') throw error;
    return error.details.code === 'resource_missing';
  }
}

function declineCodeOf(declineCode: string | null | undefined, code: string | null | undefined): string {
  // The bank's wish comes as either of the two (docs.stripe.com/declines/codes).
  if (code === 'authentication_required') return code;
  return declineCode ?? code ?? 'generic_decline';
}

async function end(deps: ActivityDeps, topup: TopupRow, error: string): Promise<void> {
  await endTopup(deps.db, topup.id, { status: 'failed', error });
}
