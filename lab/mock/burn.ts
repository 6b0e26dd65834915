import type { Account } from './account.js';

/** The cents per hour of all running rentals, and the cents of their first hours that are still held. */
export function readBurn(account: Account): { burnPerHourCents: number; holdsCents: number } {
  const running = account.rentals.filter(({ row }) => row.status === 'running').map(({ row }) => row);
  return {
    burnPerHourCents: running.reduce((sum, row) => sum + row.price_per_hour_cents, 0),
    holdsCents: running.reduce((sum, row) => sum + row.hold_cents, 0),
  };
}
