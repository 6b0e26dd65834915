/** A top-up's states. Only `credited` is final for a payment: an expired one that is paid after all is credited. */
export const topupStatuses = [
  'creating',
  'requires_payment',
  'processing',
  'succeeded',
  'expired',
  'failed',
] as const;
export type TopupStatus = (typeof topupStatuses)[number];
