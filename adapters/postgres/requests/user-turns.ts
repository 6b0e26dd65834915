import type { UserId } from '../../../domain/ids.js';
import { requestLimits } from '../../../domain/requests/limits.js';
import { Turns } from '../../turns.js';
import type { Database } from '../database.js';
import { sqlStateOf, lockNotAvailable } from '../sql-state.js';

/** A user's turn did not come in time, or too many of their own wait for it already. Nothing was begun. */
export class UserBusy extends Error {
  override readonly name = 'UserBusy';
  readonly code = 'USER_BUSY';
}

/** Tells whether another holder kept a user's wallet locked for too long: nothing was begun. */
export function isWalletBusy(error: unknown): boolean {
  return error instanceof UserBusy || sqlStateOf(error) === lockNotAvailable;
}

/**
 * Runs work that locks a user's wallet over a connection of a pool, in the user's turn. Only one request of a user at a
 * time waits for that lock over a connection; the others wait in this process (decision 73, "Turns at the wallet").
 * @param db the pool whose connections are saved: each pool has turns of its own
 * @param waitMs how long it may wait for its turn, in milliseconds; `requestLimits.userTurnWaitMs` by default
 * @throws UserBusy when its turn did not come in time, or too many wait for it: call it again
 */
export async function inTurnOfUser<T>(
  db: Database,
  userId: UserId,
  work: () => Promise<T>,
  waitMs?: number,
): Promise<T> {
  const pass = await turnsOf(db).take(userId, waitMs);
  try {
    return await work();
  } finally {
    pass();
  }
}

const turnsOfPools = new WeakMap<Database, Turns<UserId>>();

function turnsOf(db: Database): Turns<UserId> {
  const turns =
    turnsOfPools.get(db) ??
    new Turns({
      atOnce: 1,
      waiting: requestLimits.userTurnsWaiting,
      waitMs: requestLimits.userTurnWaitMs,
      refuse: (reason) => new UserBusy(`the wallet is not free: ${reason}`),
    });
  turnsOfPools.set(db, turns);
  return turns;
}
