import { ensureCustomer } from '../../adapters/customer-of-user.js';
import { tieToMarks } from '../../adapters/postgres/accounts/account-ties.js';
import { isHeld } from '../../adapters/postgres/payments/charge-marks.js';
import { isOlder } from '../../adapters/postgres/clock.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { ProcessorError, saidNo } from '../../adapters/processor/processor.js';
import { lookedForFrom } from './looked-for.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import type { ActivityDeps } from '../deps.js';
import {
  classifyCharge,
  declineCodeOf,
  type Charged,
  type ChargePolicy,
  type ChargeResult,
} from './classify-charge.js';

/**
 * Charges the saved card of a top-up whose charge was marked as sent, and follows the policy of whoever asked for it.
 * However often it is called, it is the same charge.
 * @throws ProcessorError where the processor has not decided it: call it again
 */
export async function chargeByPolicy<Outcome>(
  deps: ActivityDeps,
  topup: TopupRow,
  policy: ChargePolicy<Outcome>,
): Promise<Outcome> {
  const result = classifyCharge(await chargeSavedCard(deps, topup));
  // The table's row for a result's kind takes that result.
  const follow = policy[result.kind] as (
    deps: ActivityDeps,
    topup: TopupRow,
    result: ChargeResult,
  ) => Promise<Outcome>;
  return follow(deps, topup, result);
}

async function chargeSavedCard(deps: ActivityDeps, topup: TopupRow): Promise<Charged> {
  if (topup.payment_id !== null) {
    return { kind: 'payment', payment: await deps.processor.getPayment(topup.payment_id) };
  }
  const customerId = await ensureCustomer(deps, topup.user_id);
  await tieToMarks(deps.db, topup.user_id, deps.settings.installationKey);
  // A charge that was denied meanwhile is not sent again: if the first try left, it is found (decision 79, "Charge
  // marks").
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
    if (saidNo(error)) {
      return { kind: 'refused', error, goneCardId: await findGoneCard(deps, topup) };
    }
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

/**
 * Tells whether the processor has forgotten the charge's key, after a day: then the same request would be a second
 * charge.
 */
async function isOlderThanItsKey(deps: ActivityDeps, topup: TopupRow): Promise<boolean> {
  return isOlder(deps.db, sentAt(topup), paymentLimits.chargeKeyMs);
}

/**
 * Tells whether the processor keeps an error under the key and repeats it for a day, whether the charge was made or
 * not.
 */
function repeatsItself({ kind, details }: ProcessorError): boolean {
  if (details.code === 'idempotency_error') return true;
  return kind === 'unknown' && details.status !== undefined && details.status >= 500;
}

async function lookUp(deps: ActivityDeps, topup: TopupRow, customerId: string): Promise<Charged | undefined> {
  const payment = await deps.processor.findPaymentOfTopup({
    customerId,
    topupId: topup.id,
    createdFrom: lookedForFrom(sentAt(topup)),
  });
  return payment === null ? undefined : { kind: 'payment', payment };
}

function sentAt(topup: TopupRow): Date {
  if (topup.charge_sent_at === null) throw new Error(`the charge of ${topup.id} was never marked as sent`);
  return topup.charge_sent_at;
}

/** Returns the card of a top-up if it can't be charged because it is detached, or was never there; otherwise null. */
async function findGoneCard(
  { processor }: ActivityDeps,
  { pm_id: cardId }: TopupRow,
): Promise<string | null> {
  if (cardId === null) return null;
  try {
    return (await processor.getCard(cardId)).customerId === null ? cardId : null;
  } catch (error) {
    if (!saidNo(error)) throw error;
    return error.details.code === 'resource_missing' ? cardId : null;
  }
}
