import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { inTurnOfUser } from '../../adapters/postgres/requests/user-turns.js';
import type { UserId } from '../../domain/ids.js';

/**
 * Runs a transaction that locks a user's wallet to move its money, when it is the user's turn. A caller that holds a
 * wallet for long holds up one connection, and not the pool that everybody else uses (decision 73, "Turns at the
 * wallet"). The work locks the wallet itself, before any rental or invoice (design: rule 5). Nothing outside of
 * `money/` may open one: `npm run arrows` refuses the import.
 * @param waitMs how long it may wait for the turn, in milliseconds; `requestLimits.userTurnWaitMs` by default
 * @throws UserBusy when the turn did not come in time, or too many wait for it: nothing was begun
 */
export async function moneyTransaction<T>(
  db: Database,
  userId: UserId,
  work: (trx: Transaction) => Promise<T>,
  waitMs?: number,
): Promise<T> {
  return inTurnOfUser(db, userId, () => db.transaction(work), waitMs);
}
