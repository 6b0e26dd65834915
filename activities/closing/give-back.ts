import {
  answerReturn,
  listUnknownReturns,
  withdrawUnknown,
} from '../../adapters/postgres/accounts/closing-money.js';
import type { ClosingRefundRow } from '../../adapters/postgres/rows/tables.js';
import {
  ProcessorError,
  unlessMissing,
  type Payment,
  type Refund,
} from '../../adapters/processor/processor.js';
import { unknownPayment } from '../../domain/accounts/closing.js';
import type { UserId } from '../../domain/ids.js';
import { confirmReturn } from '../../money/closing/returns.js';
import type { ActivityDeps } from '../deps.js';
import { settleRefund } from '../payments/reversals.js';

/** What came of a try: the next step can be decided, or a wait for the processor, with its reason. */
export type GivenBack =
  | { readonly kind: 'done' }
  /** code: what it waits for, in the processor's word or ours. */
  | { readonly kind: 'waits'; readonly code: string; readonly why: string };

/**
 * The words by which the processor says that a payment takes nothing back, whoever asks and whenever
 * (docs.stripe.com/error-codes). Only these let another payment give the money. What was refunded or disputed already
 * (`charge_already_refunded`, `charge_disputed`, `refund_disputed_payment`) is no such word: the wallet does not know of
 * it yet, and follows it first.
 */
const wordsOfPayment: readonly string[] = ['charge_not_refundable'];

/**
 * Gives money of a payment back to the card that paid it, once. The wallet first follows all that was refunded of the
 * payment, so that a refund whose answer was lost is found by its key; then the wish is confirmed under the wallet's
 * lock; only then is the processor called.
 */
export async function giveBackToCard(deps: ActivityDeps, row: ClosingRefundRow): Promise<GivenBack> {
  if (await followRow(deps, row)) return { kind: 'done' };
  const confirmed = await confirmReturn(deps.db, row);
  if (confirmed === 'withdrawn') return { kind: 'done' };
  if (confirmed === 'wait')
    return {
      kind: 'waits',
      code: 'lost_answer',
      why: 'A call whose answer was lost may still make a refund.',
    };
  try {
    const { payment_id: paymentId, amount_cents: amountCents } = row;
    const refund = await deps.processor.createRefund({ paymentId, amountCents, key: keyOf(row) });
    await settleRefund(deps, refund);
    await answerReturn(deps.db, row, { refund_id: refund.refundId });
    return { kind: 'done' };
  } catch (error) {
    return refusal(deps, row, error);
  }
}

/** The key of the next try. The processor repeats a refusal for a day, so each try after one has a key of its own. */
function keyOf(row: ClosingRefundRow): string {
  return row.refused_tries === 0 ? firstKeyOf(row) : `${firstKeyOf(row)}:${row.refused_tries}`;
}

function firstKeyOf({ id, user_id: userId }: ClosingRefundRow): string {
  return `closing-refund:${userId}:${id}`;
}

/** Whether a refund was made for a row, by whichever try. */
function isOf(row: ClosingRefundRow, key: string | null): boolean {
  return key === firstKeyOf(row) || (key?.startsWith(`${firstKeyOf(row)}:`) ?? false);
}

/**
 * Lets the wallet follow each refund of the row's payment.
 * @returns whether the row is answered: its own is among them, or nobody knows the payment (decision 194, "Payments of another
 * account")
 */
async function followRow(deps: ActivityDeps, row: ClosingRefundRow): Promise<boolean> {
  const refunds = await followRefunds(deps, row.payment_id);
  if (refunds === undefined) {
    await answerReturn(deps.db, row, { refused_code: unknownPayment });
    return true;
  }
  const own = refunds.find(({ key }) => isOf(row, key));
  if (own) await answerReturn(deps.db, row, { refund_id: own.refundId });
  return own !== undefined;
}

/**
 * Lets a wallet follow each refund of a payment that the processor knows, so that none is made a second time.
 * @returns them; undefined: the processor's account, which is ours, does not know the payment
 */
export async function followRefunds(
  deps: ActivityDeps,
  paymentId: string,
): Promise<readonly Refund[] | undefined> {
  const payment = await findPayment(deps, paymentId);
  if (payment === null) return undefined;
  const { chargeId } = payment;
  const refunds = chargeId === null ? [] : await deps.processor.listRefundsOfCharge(chargeId);
  for (const refund of refunds) await settleRefund(deps, refund);
  return refunds;
}

/** Asks again for what the processor's account did not know: what it knows now is to go back like any other. */
export async function askForUnknown(deps: ActivityDeps, userId: UserId): Promise<void> {
  if (!deps.processor.enabled) return;
  for (const row of await listUnknownReturns(deps.db, userId)) {
    if ((await findPayment(deps, row.payment_id)) !== null) await withdrawUnknown(deps.db, row);
  }
}

function findPayment({ processor }: ActivityDeps, paymentId: string): Promise<Payment | null> {
  return unlessMissing(() => processor.getPayment(paymentId));
}

/** @throws the error, where nothing is known of the call */
async function refusal(deps: ActivityDeps, row: ClosingRefundRow, error: unknown): Promise<GivenBack> {
  if (!(error instanceof ProcessorError) || error.kind === 'unknown') throw error;
  const { code = 'no code', status } = error.details;
  deps.log.warn({ userId: row.user_id, paymentId: row.payment_id, code, status }, 'a refund was refused');
  const waits = {
    kind: 'waits',
    code,
    why: `The processor refused the refund of ${row.payment_id}: ${code}.`,
  } as const;
  // It has not looked at the request: the same one is asked for again.
  if (error.isOfPeer) return { ...waits, why: `${waits.why} Does its key have the right refunds: write?` };
  if (!wordsOfPayment.includes(code)) {
    // This key made no refund: nothing is on its way.
    await answerReturn(deps.db, row, { refused_tries: row.refused_tries + 1, called_at: null });
    return waits;
  }
  await answerReturn(deps.db, row, { refused_code: code });
  return { kind: 'done' };
}
