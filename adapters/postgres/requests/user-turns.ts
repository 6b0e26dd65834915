import type { UserId } from '../../../domain/ids.js';
import { requestLimits } from '../../../domain/requests/limits.js';
import { Turns } from '../../turns.js';
import type { Database, Transaction } from '../database.js';
import { sqlStateOf, lockNotAvailable } from '../sql-state.js';

/** A user's turn did not come in time, or too many of their own wait for it already. Nothing was begun. */
export class UserBusy extends Error {
  override readonly name = 'UserBusy';
  readonly code = 'USER_BUSY';
}

/** Tells whether somebody else held a user's wallet for too long: nothing was begun. */
export function isWalletBusy(error: unknown): boolean {
  return error instanceof UserBusy || sqlStateOf(error) === lockNotAvailable;
}

/**
 * Runs a transaction that locks a user's wallet, when it is its turn: of one user only one at a time waits for that
 * lock over a connection of the pool, the others wait in this process for theirs. Whoever holds the wallet for long
 * thus holds up one connection and not the pool, of which everybody else lives (decision 73).
 * @param waitMs how long it may wait for its turn
 * @throws UserBusy when its turn did not come within `waitMs`, or too many wait: call it again
 */
export async function transactionOfUser<T>(
  db: Database,
  userId: UserId,
  work: (trx: Transaction) => Promise<T>,
  waitMs?: number,
): Promise<T> {
  const pass = await turnsOf(db).take(userId, waitMs);
  try {
    return await db.transaction(work);
  } finally {
    pass();
  }
}

const turnsOfPools = new WeakMap<Database, Turns<UserId>>();

function turnsOf(db: Database): Turns<UserId> {
  const turns =
    turnsOfPools.get(db) ??
    new Turns({
      ...{ atOnce: 1, waiting: requestLimits.userTurnsWaiting, waitMs: requestLimits.userTurnWaitMs },
      refuse: (reason) => new UserBusy(`the wallet is not free: ${reason}`),
    });
  turnsOfPools.set(db, turns);
  return turns;
}
