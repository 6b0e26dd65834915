/** A rental's states: spec.md "Rental status" and decision 15, "Stopping a rental". */
export const rentalStatuses = ['provisioning', 'running', 'stopping', 'stopped', 'failed'] as const;
export type RentalStatus = (typeof rentalStatuses)[number];

/** Why a rental ended (decision 16, "A rental on read"). */
export const stopReasons = [
  'user',
  'auto_stop',
  'spend_limit',
  'balance_exhausted',
  'pod_lost',
  'operator',
  'idle',
] as const;
export type StopReason = (typeof stopReasons)[number];

/** Tells whether a status is final: no more work is owed to such a rental. */
export function isFinal(status: RentalStatus): boolean {
  return status === 'stopped' || status === 'failed';
}

/** Tells whether its machine is coming up, or can be used. */
export function isUsed(status: RentalStatus): boolean {
  return status === 'provisioning' || status === 'running';
}
