import { lockApiKeysOf, revokeApiKeysOf } from '../../adapters/postgres/accounts/api-key-list.js';
import { moveClosing, readOpenBusiness } from '../../adapters/postgres/accounts/closings.js';
import type { Database } from '../../adapters/postgres/database.js';
import { lockBy } from '../../adapters/postgres/locks.js';
import type { ClosingWait } from '../../domain/accounts/closing.js';
import type { UserId } from '../../domain/ids.js';
import { voidOffersAtClosing } from '../invoices/invoice-voids.js';
import { moneyTransaction } from '../ledger/transaction.js';
import { lockWalletOfUser } from '../ledger/wallets.js';

/** Nothing is charged by itself any more, no key opens anything, and the void is asked for of what nobody owes. */
export async function stopSpending(db: Database, userId: UserId): Promise<void> {
  await moneyTransaction(db, userId, async (trx) => {
    await lockWalletOfUser(trx, userId);
    await trx('auto_topups').where({ user_id: userId, enabled: true }).update({ enabled: false });
    // One that is just being made is revoked as well.
    await lockBy(trx, 'apiKeysOfUser', userId);
    await lockApiKeysOf(trx, userId, undefined);
    await revokeApiKeysOf(trx, userId, undefined);
    await voidOffersAtClosing(trx, userId);
  });
}

/**
 * Lets an account that is being closed be settled once nothing of it runs. Rentals open under the wallet's lock, and a top-up
 * begins under the one of its user's top-ups, which comes first: what was begun before the wish is seen here, and nothing is
 * begun after it.
 * @returns what still runs; nothing: it goes on
 */
export async function settleWhenQuiet(db: Database, userId: UserId): Promise<readonly ClosingWait[]> {
  return moneyTransaction(db, userId, async (trx) => {
    await lockBy(trx, 'topupsOfUser', userId);
    await lockWalletOfUser(trx, userId);
    const open = await readOpenBusiness(trx, userId);
    const waits = (['rentals', 'topups'] as const).filter((kind) => open[kind] > 0);
    if (waits.length === 0) await moveClosing(trx, userId, { state: 'settling' });
    return waits;
  });
}
