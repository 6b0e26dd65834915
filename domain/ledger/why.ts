import type { ChargeDerivation } from './charge-derivation.js';
import type { Explanation } from './explanation.js';
import { formatUsd } from '../money.js';

/** The facts of an explanation that its sentence uses. */
type Facts = Omit<Explanation, 'why' | 'evidence'>;

/** The reason of an entry, in one sentence for the payer. */
export function whyOf(facts: Facts): string {
  const amount = formatUsd(Math.abs(facts.entry.amountCents));
  const way = facts.entry.amountCents < 0 ? 'was taken from the wallet' : 'was added to the wallet';
  return `${amount} ${way}: ${reasonOf(facts)}.`;
}

function reasonOf(facts: Facts): string {
  const { charge, rentalRefund, byHand, reversal } = facts;
  if (charge !== null) return chargeReason(charge, facts);
  if (rentalRefund !== null) return refundReason(facts);
  if (byHand !== null) return `an operator did so by hand, because: ${byHand.reason}`;
  if (reversal !== null) return reversalReason(facts, reversal);
  return moneyInReason(facts);
}

function chargeReason(charge: ChargeDerivation, { rental }: Facts): string {
  const what = rental === null ? 'a rental' : `${rental.gpuCount} x ${rental.model} (${rental.id})`;
  const rate = `at ${formatUsd(charge.pricePerHourCents)} an hour`;
  if (charge.occasion === 'capture') {
    return `the rest of what was held for ${what}, which failed; a refund gives all of it back`;
  }
  const time = `from ${charge.from?.toISOString() ?? '?'} until ${charge.until?.toISOString() ?? '?'}`;
  const share = charge.unpaidCents > 0 ? `, as far as the wallet covered it` : '';
  if (charge.occasion === 'settlement')
    return `the last of ${what} ${rate}, settled at its end ${time}${share}`;
  return `${what} ran ${rate} ${time}${share}`;
}

function refundReason({ rental, rentalRefund }: Facts): string {
  const id = rental?.id ?? 'the rental';
  if (rentalRefund?.finalCents === 0) return `${id} failed, and all that was charged for it is given back`;
  return `the machine of ${id} was lost, and what was charged after it was last seen alive is given back`;
}

function reversalReason({ entry }: Facts, reversal: NonNullable<Facts['reversal']>): string {
  const what = `${reversal.kind} ${reversal.id} of payment ${reversal.paymentId}`;
  return entry.amountCents < 0
    ? `the payment processor took money back by ${what}`
    : `what ${what} had taken came back`;
}

function moneyInReason({ entry, payment, invoice }: Facts): string {
  if (entry.type === 'adjustment') {
    const which = invoice === null ? 'an invoice' : `invoice ${invoice.id}`;
    return `${which} was paid although nothing was owed on it any more, so what was paid is credited`;
  }
  const whose = entry.type === 'auto_topup' ? 'auto-topup charged the saved card' : 'a payment was received';
  const paymentId = payment?.paymentId ?? null;
  const how = paymentId === null ? '' : ` (${paymentId})`;
  return invoice === null ? `${whose}${how}` : `invoice ${invoice.id} was paid${how}`;
}
