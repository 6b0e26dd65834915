import type { TopupId, UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import { lockBy } from '../locks.js';
import { inTurnOfUser, isWalletBusy } from './user-turns.js';

export type LastWord<Row> =
  | { readonly kind: 'there'; readonly row: Row }
  /** The row is not there, and never will be. */
  | { readonly kind: 'never' }
  /** It may still happen: the lock was not free, its time is not over, or its page or charge was sent for. */
  | { readonly kind: 'unknown' };

/**
 * Returns a row that answers, `sent` when the call that would make it has left already, or undefined when it is not
 * there.
 */
type Look<Row> = (trx: Transaction) => Promise<Row | 'sent' | undefined>;

/** Begins the transaction of a look. */
type Begin<Row> = (work: (trx: Transaction) => Promise<LastWord<Row>>) => Promise<LastWord<Row>>;

/**
 * Reads a row that a silent activity was to make, under the lock of the wallet (decision 4, "Promise of a 503"). The
 * activity checks its deadline under this lock right before it commits, so after the deadline the answer is final. This
 * is no money transaction: once it holds the lock the database refuses all writes.
 * @param answerBefore the last instant, by the database's clock, at which the row may still be made
 * @param lockWaitMs how long to wait for the lock
 */
export async function readUnderWalletLock<Row>(
  db: Database,
  userId: UserId,
  answerBefore: Date,
  lockWaitMs: number,
  read: Look<Row>,
): Promise<LastWord<Row>> {
  const lock = 'select id from wallets where user_id = ? for no key update';
  // One request of a user at a time waits for the lock over a connection (decision 73, "Turns at the wallet").
  const inTurn: Begin<Row> = (work) => inTurnOfUser(db, userId, () => db.transaction(work), lockWaitMs);
  return readUnder((trx) => trx.raw(lock, [userId]), inTurn, answerBefore, lockWaitMs, read);
}

/**
 * Reads a top-up in the same way, under a lock of its own. A wallet is locked for as long as an upstream is asked for a
 * machine, and a payment must not wait for that (decision 82, "Honest checkout failures").
 */
export async function readUnderTopupLock<Row>(
  db: Database,
  topupId: TopupId,
  answerBefore: Date,
  lockWaitMs: number,
  read: Look<Row>,
): Promise<LastWord<Row>> {
  return readUnder(
    (trx) => lockTopup(trx, topupId),
    (work) => db.transaction(work),
    answerBefore,
    lockWaitMs,
    read,
  );
}

/** Locks the beginning of a top-up, and the sending for its page or charge, against the last look at it. */
export async function lockTopup(trx: Transaction, topupId: TopupId): Promise<void> {
  await lockBy(trx, 'topup', topupId);
}

async function readUnder<Row>(
  lock: (trx: Transaction) => Promise<unknown>,
  begin: Begin<Row>,
  answerBefore: Date,
  lockWaitMs: number,
  read: Look<Row>,
): Promise<LastWord<Row>> {
  try {
    return await begin(async (trx): Promise<LastWord<Row>> => {
      await trx.raw("select set_config('lock_timeout', ?, true)", [`${lockWaitMs}ms`]);
      await lock(trx);
      // A row lock needs a transaction that may write; after the lock nothing here may write.
      await trx.raw('set transaction read only');
      const row = await read(trx);
      if (row === 'sent') return { kind: 'unknown' };
      if (row !== undefined) return { kind: 'there', row };
      const { rows } = await trx.raw<{ rows: { over: boolean }[] }>('select clock_ms() > ? as over', [
        answerBefore,
      ]);
      return { kind: rows[0]?.over === true ? 'never' : 'unknown' };
    });
  } catch (error) {
    if (isWalletBusy(error)) return { kind: 'unknown' };
    throw error;
  }
}
