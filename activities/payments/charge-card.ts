import { ensureCustomer } from '../../adapters/customer-of-user.js';
import { isHeld } from '../../adapters/postgres/payments/charge-marks.js';
import { readClock } from '../../adapters/postgres/clock.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { ProcessorError, type Failure, type Payment } from '../../adapters/processor/processor.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import type { ActivityDeps } from '../deps.js';

/** What a charge of the saved card came to. */
export type Charged =
  | { readonly kind: 'payment'; readonly payment: Payment }
  | { readonly kind: 'declined'; readonly declineCode: string; readonly paymentId: string | null }
  | { readonly kind: 'refused'; readonly error: ProcessorError }
  /** It was looked up, and never came to be. */
  | { readonly kind: 'none' };

/**
 * Charges the saved card of a top-up whose charge was marked as sent. However often it is called, it is the same
 * charge.
 * @throws ProcessorError `unknown`: call it again
 */
export async function charge(deps: ActivityDeps, topup: TopupRow): Promise<Charged> {
  if (topup.payment_id !== null) {
    return { kind: 'payment', payment: await deps.processor.getPayment(topup.payment_id) };
  }
  const customerId = await ensureCustomer(deps, topup.user_id);
  // What was denied meanwhile is not charged again: if the first try left, it is found (decision 79).
  if ((await isOlderThanItsKey(deps, topup)) || (await isHeld(deps.db, topup.user_id, topup.pm_id))) {
    return (await lookUp(deps, topup, customerId)) ?? { kind: 'none' };
  }
  return chargeByKey(deps, topup, customerId);
}

async function chargeByKey(deps: ActivityDeps, topup: TopupRow, customerId: string): Promise<Charged> {
  try {
    const payment = await deps.processor.chargeSavedCard({
      topupId: topup.id,
      userId: topup.user_id,
      customerId,
      cardId: topup.pm_id ?? '',
      amountCents: topup.amount_cents,
      source: topup.source === 'auto_topup' ? 'auto_topup' : 'saved_card',
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
    declineCode: declineCodeOf({ code: details.code ?? null, declineCode: details.declineCode ?? null }),
    paymentId: details.paymentId ?? null,
  };
}

/** The processor forgets a key after a day: then the same request would be a second charge. */
async function isOlderThanItsKey(deps: ActivityDeps, topup: TopupRow): Promise<boolean> {
  const now = await readClock(deps.db);
  return now.getTime() - sentAt(topup).getTime() > paymentLimits.chargeKeyMs;
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

/** Tells whether a card can't be charged any more because it is detached, or was never there. */
export async function isGone(deps: ActivityDeps, cardId: string): Promise<boolean> {
  try {
    return (await deps.processor.getCard(cardId)).customerId === null;
  } catch (error) {
    if (!(error instanceof ProcessorError) || error.kind !== 'refused') throw error;
    return error.details.code === 'resource_missing';
  }
}

/** Why a charge failed, in the bank's words. */
export function declineCodeOf(failure: Partial<Failure> | null): string {
  // The bank's wish comes as either of the two (docs.stripe.com/declines/codes).
  if (failure?.code === 'authentication_required') return failure.code;
  return failure?.declineCode ?? failure?.code ?? 'generic_decline';
}
