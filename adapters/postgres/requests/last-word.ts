import type { TopupId, UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import { inTurnOfUser, isWalletBusy } from './user-turns.js';

/** The first key of the advisory lock of a top-up. */
const LOCK_TOPUP = 7_105;

export type LastWord<Row> =
  | { readonly kind: 'there'; readonly row: Row }
  /** It is not there, and never will be. */
  | { readonly kind: 'never' }
  /** The lock was not to be had, the time for it is not over, or it was sent for: it may still happen. */
  | { readonly kind: 'unknown' };

/** A row that answers; `sent` when what would make it has left already; undefined when it is not there. */
type Look<Row> = (trx: Transaction) => Promise<Row | 'sent' | undefined>;

/** Begins the transaction of a look. */
type Begin<Row> = (work: (trx: Transaction) => Promise<LastWord<Row>>) => Promise<LastWord<Row>>;

/**
 * Reads a row that a silent activity was to make, under the lock of the wallet (decision 4, "Promise of a 503"). The
 * activity checks its deadline under this lock right before it commits, so after the deadline the answer is final. This
 * is no money transaction: once it holds the lock the database refuses all that writes.
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
  // Of one user one at a time waits for it over a connection (decision 73, "Turns at the wallet").
  const inTurn: Begin<Row> = (work) => inTurnOfUser(db, userId, () => db.transaction(work), lockWaitMs);
  return readUnder((trx) => trx.raw(lock, [userId]), inTurn, answerBefore, lockWaitMs, read);
}

/**
 * The same of a top-up, under a lock of its own: a wallet is locked for as long as an upstream is asked for a
 * machine, and nobody shall wait for that to pay (decision 82, "Honest checkout failures").
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

/** Locks what begins a top-up, or sends for its page or charge, against the last look at it. */
export async function lockTopup(trx: Transaction, topupId: TopupId): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(?, hashtext(?))', [LOCK_TOPUP, topupId]);
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
      // A row lock is taken by a transaction that may write; after it nothing here may.
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
