import type { Account } from '../../../lab/mock/account.js';
import type { MockServer } from '../../../lab/mock/server.js';

/** Finds an account of the mock, of somebody who has signed in. */
export function accountOf({ world }: MockServer, email: string): Account {
  for (const account of world.accounts.all()) if (account.user.email === email) return account;
  throw new Error(`nobody has signed in as ${email}`);
}

/**
 * Makes up a ledger: a top-up, and then a cent a second until so many entries are written, the last one at an instant.
 * The nth entry's balance tells its number.
 */
export function fillLedger({ wallet }: Account, count: number, until: Date): void {
  const atOf = (left: number): Date => new Date(until.getTime() - left * 1_000);
  wallet.post({
    type: 'processor_topup',
    availableCents: count,
    processorChargeId: 'ch_past',
    at: atOf(count),
  });
  for (let left = count - 2; left >= 0; left -= 1) {
    wallet.post({ type: 'rental_charge', availableCents: -1, at: atOf(left) });
  }
}
