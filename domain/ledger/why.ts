import type { ChargeDerivation } from './charge-derivation.js';
import type { Explanation } from './explanation.js';
import { machineWords } from '../catalog/machine-words.js';
import { formatUsd } from '../money.js';

/** The facts of an explanation that its sentence uses. */
type Facts = Omit<Explanation, 'why' | 'evidence'>;

/** The reason of an entry, in one sentence for the payer. */
export function whyOf(facts: Facts): string {
  const amount = formatUsd(Math.abs(facts.entry.amountCents));
  const way = facts.entry.amountCents < 0 ? 'was taken from your wallet' : 'was added to your wallet';
  return `${amount} ${way}: ${reasonOf(facts)}.`;
}

function reasonOf(facts: Facts): string {
  const { charge, rentalRefund, byHand, reversal } = facts;
  if (charge !== null) return chargeReason(charge, facts);
  if (rentalRefund !== null) return refundReason(facts);
  if (byHand !== null) return `an operator did this by hand: ${byHand.reason}`;
  if (reversal !== null) return reversalReason(facts, reversal);
  return moneyInReason(facts);
}

function chargeReason(charge: ChargeDerivation, { rental }: Facts): string {
  const what = rental === null ? 'a rental' : `${machineWords(rental.gpuCount, rental.model)} (${rental.id})`;
  const rate = `at ${formatUsd(charge.pricePerHourCents)} an hour`;
  if (charge.occasion === 'capture') {
    return `the rest of the hold for ${what}, which failed; a refund returns all of it`;
  }
  const time = `from ${charge.from?.toISOString() ?? '?'} until ${charge.until?.toISOString() ?? '?'}`;
  const share = charge.unpaidCents > 0 ? `, as far as your balance covered it` : '';
  if (charge.occasion === 'settlement') return `the final charge for ${what} ${rate} ${time}${share}`;
  return `${what} ran ${rate} ${time}${share}`;
}

function refundReason({ rental, rentalRefund }: Facts): string {
  const id = rental?.id ?? 'the rental';
  if (rentalRefund?.finalCents === 0) return `${id} failed, so its charges were refunded`;
  return `the machine of ${id} was lost, so charges after it was last seen running were refunded`;
}

function reversalReason({ entry }: Facts, reversal: NonNullable<Facts['reversal']>): string {
  const what = `${reversal.kind} ${reversal.id} of payment ${reversal.paymentId}`;
  return entry.amountCents < 0
    ? `the payment processor reversed a payment: ${what}`
    : `money came back from ${what}`;
}

function moneyInReason({ entry, payment, invoice }: Facts): string {
  if (entry.type === 'adjustment') return adjustmentReason(entry.amountCents, invoice?.id);
  const whose = entry.type === 'auto_topup' ? 'auto-topup charged the saved card' : 'a payment was received';
  const paymentId = payment?.paymentId ?? null;
  const how = paymentId === null ? '' : ` (${paymentId})`;
  return invoice === null ? `${whose}${how}` : `invoice ${invoice.id} was paid${how}`;
}

/** Nothing takes money by an adjustment without a document but the closing of an account: what is owed, then what lapses. */
function adjustmentReason(amountCents: number, invoiceId: string | undefined): string {
  if (amountCents < 0) {
    return invoiceId === undefined
      ? 'it was given to your account, so it lapsed when the account closed'
      : `it paid what you owed by invoice ${invoiceId} when your account closed, and the invoice is void`;
  }
  const which = invoiceId === undefined ? 'an invoice' : `invoice ${invoiceId}`;
  return `${which} was paid although you no longer owed it, so the payment was credited`;
}
