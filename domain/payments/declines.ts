/** The events of a declined card: on a payment page or by a charge, in a form, on an invoice's page. */
export const declineKinds = [
  'payment_intent.payment_failed',
  'setup_intent.setup_failed',
  'invoice.payment_failed',
] as const;
