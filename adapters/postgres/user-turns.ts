import type { UserId } from '../../domain/ids.js';
import { limits } from '../../domain/limits.js';
import type { Database, Transaction } from './database.js';
import { sqlStateOf, lockNotAvailable } from './sql-state.js';

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
  waitMs: number = limits.userTurnWaitMs,
): Promise<T> {
  const turns = turnsOf(db);
  await turns.take(userId, waitMs);
  try {
    return await db.transaction(work);
  } finally {
    turns.pass(userId);
  }
}

const turnsOfPools = new WeakMap<Database, Turns>();

function turnsOf(db: Database): Turns {
  const turns = turnsOfPools.get(db) ?? new Turns();
  turnsOfPools.set(db, turns);
  return turns;
}

/** Who is at work for each user, and who waits for it. A user whom nobody works for takes no room. */
class Turns {
  readonly #waiting = new Map<UserId, (() => void)[]>();

  /** Resolves when the turn has come. The first to ask has it at once. */
  async take(userId: UserId, waitMs: number): Promise<void> {
    const waiting = this.#waiting.get(userId);
    if (waiting === undefined) {
      this.#waiting.set(userId, []);
      return;
    }
    if (waiting.length >= limits.userTurnsWaiting) {
      throw new UserBusy(`${waiting.length} others of ${userId} wait for the wallet already`);
    }
    await new Promise<void>((resolve, reject) => {
      const come = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(come), 1);
        reject(new UserBusy(`the wallet of ${userId} was not free within ${waitMs} ms`));
      }, waitMs);
      waiting.push(come);
    });
  }

  pass(userId: UserId): void {
    const next = this.#waiting.get(userId)?.shift();
    if (next === undefined) this.#waiting.delete(userId);
    else next();
  }
}
