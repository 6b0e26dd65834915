import { tieToMarks } from '../../adapters/postgres/accounts/account-ties.js';
import { markHandled, type WaitingEvent } from '../../adapters/postgres/payments/event-handling.js';
import { findCredit } from '../../adapters/postgres/payments/credits.js';
import { creditTopup, creditUser } from '../../money/payments/credit.js';
import { parkPayment } from '../../money/payments/parked-payments.js';
import { findUserId, isCustomerOf } from '../../adapters/postgres/payments/payers.js';
import { saveCard } from '../../adapters/postgres/payments/saved-cards.js';
import { findTopup } from '../../adapters/postgres/payments/topups.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { isMissing, type Payment } from '../../adapters/processor/processor.js';
import { isPaidKind, paymentIdOf } from '../../domain/payments/processor-routes.js';
import { isId, type TopupId, type UserId } from '../../domain/ids.js';
import type { ActivityDeps } from '../deps.js';
import { signalLooks } from '../upkeep/signal-looks.js';

/**
 * Credits a payment of a top-up that succeeded, with the amount that was really paid. Money of another currency, or of
 * another user than the top-up's, can't be credited: it is put aside for operators, loudly.
 */
export async function settlePayment(deps: ActivityDeps, topup: TopupRow, payment: Payment): Promise<void> {
  const fault = faultOf(payment);
  if (fault !== null) return park(deps, payment, fault, topup.id);
  if (payment.userId !== null && payment.userId !== topup.user_id) {
    return park(deps, payment, `paid for ${payment.userId}, who is not the user of the top-up`, topup.id);
  }
  await saveConsentedCard(deps, topup.user_id, payment);
  await creditTopup(deps.db, topup.id, payment, deps.settings.seller);
  await tieToMarks(deps.db, topup.user_id, deps.settings.installationKey);
}

/**
 * Credits a payment that succeeded by the ids in its own metadata: to its top-up, or to its user where the top-up
 * is not known here.
 */
export async function settleByMetadata(deps: ActivityDeps, payment: Payment): Promise<void> {
  if (payment.status !== 'succeeded') return;
  const { topupId } = payment;
  const topup = topupId !== null && isId('top', topupId) ? await findTopup(deps.db, topupId) : undefined;
  if (topup) return settlePayment(deps, topup, payment);
  const fault = faultOf(payment);
  if (fault !== null) return park(deps, payment, fault, null);
  const userId = await findUser(deps, payment.userId);
  if (userId === undefined) return park(deps, payment, 'paid for nobody that exists here', null);
  await creditUser(deps.db, userId, payment);
}

/**
 * Credits payments that events name and that the row does not know: a page was paid twice, or this database has lost
 * the top-up. Then it marks the events as handled. A payment that the processor does not know keeps no other from its
 * credit, and no other's event from its mark (decision 69, "Items that fail").
 * @throws ProcessorError when one of them is unknown there, after the others; at once when the processor can't be asked
 */
export async function handleEvents(
  deps: ActivityDeps,
  events: readonly WaitingEvent[],
  note: string,
): Promise<void> {
  const unknown = new Map<string | null, unknown>();
  for (const paymentId of new Set(events.map(paidBy))) {
    if (paymentId === null || (await findCredit(deps.db, paymentId))) continue;
    try {
      await settleByMetadata(deps, await deps.processor.getPayment(paymentId));
    } catch (error) {
      if (!isMissing(error)) throw error;
      unknown.set(paymentId, error);
    }
  }
  const done = events.filter((event) => !unknown.has(paidBy(event)));
  await markHandled(deps.db, done, note);
  if (unknown.size > 0) throw [...unknown.values()][0];
}

/** The payment by which an event says that money came; null: it says no such thing. */
function paidBy({ kind, object }: WaitingEvent): string | null {
  return isPaidKind(kind) ? paymentIdOf(object) : null;
}

function faultOf(payment: Payment): string | null {
  if (payment.currency !== 'usd') return `paid in ${payment.currency}`;
  return payment.amountReceivedCents > 0 ? null : 'paid, but nothing was received';
}

async function park(
  deps: ActivityDeps,
  payment: Payment,
  reason: string,
  topupId: TopupId | null,
): Promise<void> {
  if (!(await parkPayment(deps.db, payment, reason, topupId))) return;
  const { paymentId, amountReceivedCents, currency } = payment;
  deps.log.error(
    { paymentId, amountReceivedCents, currency, topupId, reason },
    'a payment is parked: credit or refund it by hand (ops parked)',
  );
}

async function findUser(deps: ActivityDeps, id: string | null): Promise<UserId | undefined> {
  if (id === null || !isId('usr', id)) return undefined;
  return findUserId(deps.db, id);
}

/** Saves the card of a hosted page if its payer ticked the page's own consent (decision 32, "Checkout and credit"). */
async function saveConsentedCard(deps: ActivityDeps, userId: UserId, payment: Payment): Promise<void> {
  const { card } = payment;
  if (card?.keptByConsent !== true || card.customerId === null || payment.chargedAt === null) return;
  if (!(await isCustomerOf(deps.db, userId, card.customerId))) return;
  await signalCards(deps, await saveCard(deps.db, { userId, card, setUpAt: payment.chargedAt }));
}

/** Lets the workflows of removed cards detach them. The reviver finds a card whose workflow can't be told. */
export async function signalCards(deps: ActivityDeps, cardIds: readonly string[]): Promise<void> {
  await signalLooks(
    deps,
    cardIds.map((workflowId) => ({ workflow: 'card', workflowId })),
  );
}
