/** How much of a refund or a dispute is taken from where (decision 30, "Reversed payments"). Whole cents. */
export interface ReversalShare {
  readonly debitedCents: number;
  readonly invoicedCents: number;
  readonly writtenOffCents: number;
}

/**
 * Divides the amount that a refund or dispute takes: never more than is left of its payment, from available first. The
 * rest becomes an invoice, or is written off where it is below the smallest one (decision 26, "End of the money").
 */
export function shareOfReversal(input: {
  readonly amountCents: number;
  readonly leftOfPaymentCents: number;
  readonly availableCents: number;
  readonly minInvoiceCents: number;
}): ReversalShare {
  const dueCents = Math.max(0, Math.min(input.amountCents, input.leftOfPaymentCents));
  const debitedCents = Math.min(dueCents, input.availableCents);
  const missingCents = dueCents - debitedCents;
  const isInvoiced = missingCents >= input.minInvoiceCents;
  return {
    debitedCents,
    invoicedCents: isInvoiced ? missingCents : 0,
    writtenOffCents: isInvoiced ? 0 : missingCents,
  };
}
