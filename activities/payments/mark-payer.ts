import { markCharges } from '../../money/payments/mark-charges.js';
import { findCredit } from '../../adapters/postgres/payments/credits.js';
import { findMark } from '../../adapters/postgres/payments/charge-marks.js';
import { findDebtor } from '../../adapters/postgres/payments/reversal-reads.js';
import { findUserId, findUserIdOfCustomer } from '../../adapters/postgres/payments/payers.js';
import type { Payment } from '../../adapters/processor/processor.js';
import { isId, type UserId } from '../../domain/ids.js';
import type { ActivityDeps } from '../deps.js';

/** A payment that its payer, or its bank, denies. */
export interface Denied {
  readonly id: string;
  readonly kind: 'dispute' | 'early_fraud_warning';
  readonly chargeId: string;
  readonly paymentId: string | null;
}

/**
 * Records that a bank takes a payment for fraud before anybody disputes it. No money moves, and nothing more is
 * charged.
 */
export async function recordWarning(deps: ActivityDeps, warningId: string): Promise<void> {
  const { chargeId, paymentId } = await deps.processor.getFraudWarning(warningId);
  await markPayer(deps, { id: warningId, kind: 'early_fraud_warning', chargeId, paymentId });
}

/**
 * Marks the payer and the card of a denied payment, once (decision 79, "Charge marks"). A card that paid for somebody
 * who is no user here is marked as well: a user may save it.
 */
export async function markPayer(deps: ActivityDeps, { paymentId, ...denied }: Denied): Promise<void> {
  if (await findMark(deps.db, denied.id)) return;
  const userId = paymentId === null ? null : await findPayerOf(deps, paymentId);
  const fingerprint = await deps.processor.getCardFingerprint(denied.chargeId);
  const isNew = await markCharges(
    deps.db,
    { ...denied, userId, fingerprint },
    deps.settings.operatorEmail ?? null,
  );
  if (!isNew) return;
  deps.log.error(
    { ...denied, paymentId, userId },
    'a payment is denied: its payer and card are not charged automatically until an operator lifts the mark (ops marks)',
  );
}

async function findPayerOf(deps: ActivityDeps, paymentId: string): Promise<UserId | null> {
  const credit = await findCredit(deps.db, paymentId);
  if (credit) return credit.userId;
  const payer = await findPayer(deps, await deps.processor.getPayment(paymentId));
  return payer ?? (await findDebtor(deps.db, paymentId)) ?? null;
}

/** Finds the user whose customer paid, or whom the payment's metadata names; undefined when it is nobody here. */
export async function findPayer(
  deps: ActivityDeps,
  { customerId, userId }: Payment,
): Promise<UserId | undefined> {
  const ofCustomer = customerId === null ? undefined : await findUserIdOfCustomer(deps.db, customerId);
  if (ofCustomer) return ofCustomer;
  // The customer of an account that was closed is forgotten.
  return userId !== null && isId('usr', userId) ? findUserId(deps.db, userId) : undefined;
}
