import type { UserId } from '../../../domain/ids.js';
import {
  accountClosing,
  closingLimits,
  isClosedAddress,
  type ClosingState,
  type ClosingWait,
} from '../../../domain/accounts/closing.js';
import { operationLimits } from '../../../domain/operations/limits.js';
import { isOlderSql } from '../clock.js';
import { isOwedSql } from '../invoices/debts.js';
import type { Database, Transaction } from '../database.js';
import type { AccountClosingRow, ClosingRefundRow, UserRow } from '../rows/tables.js';

/**
 * Notes that an account is to be closed, once. One that a restored database brought back in the middle of its closing counts
 * as restored from then on.
 * @returns whether it is noted now
 */
export async function insertClosing(
  db: Database | Transaction,
  userId: UserId,
  requestedBy: AccountClosingRow['requested_by'] = 'user',
): Promise<boolean> {
  const rows = await db('account_closings')
    // The API may not say who asks: it is its user.
    .insert({ user_id: userId, ...(requestedBy !== 'user' && { requested_by: requestedBy }) })
    .onConflict('user_id')
    .ignore()
    .returning('user_id');
  if (rows.length === 0 && requestedBy === 'restored')
    await db('account_closings').where({ user_id: userId }).update({ requested_by: requestedBy });
  return rows.length > 0;
}

export async function findClosing(
  db: Database | Transaction,
  userId: UserId,
): Promise<AccountClosingRow | undefined> {
  return db('account_closings').where({ user_id: userId }).first();
}

/** The address by which the words of somebody are found who is being erased; null once they are. */
export async function findAddress(
  db: Database | Transaction,
  { id, email }: Pick<UserRow, 'id' | 'email'>,
): Promise<string | null> {
  if (!isClosedAddress(email)) return email;
  return (await findClosing(db, id))?.former_email ?? null;
}

/** @throws Refusal account_closing: nothing new is begun for an account that is being closed */
export async function refuseWhenClosing(db: Database | Transaction, userId: UserId): Promise<void> {
  const closing = await findClosing(db, userId);
  if (closing) throw accountClosing();
}

/** Lists the accounts that are not closed yet: each should have a workflow. */
export async function listOpenClosings(db: Database): Promise<UserId[]> {
  const rows = await db('account_closings')
    .whereNull('closed_at')
    .whereRaw(isOlderSql('requested_at', operationLimits.reviveAfterMs))
    .orderBy('requested_at')
    .limit(10_000)
    .select('user_id');
  return rows.map(({ user_id: id }) => id);
}

/**
 * Wakes a closing that was over, because money or words came late about it: a workflow begins within a minute. One that is
 * in its last look does not end by it (`endWatch`). Call it in the transaction of what came.
 */
export async function wakeClosing(trx: Transaction, userId: UserId): Promise<void> {
  await trx('account_closings')
    .where({ user_id: userId })
    .whereIn('state', ['kept', 'closed'])
    .update({ state: 'kept', closed_at: null, late_until: lateUntil(trx) });
}

/** Until when late words are looked for from now on, in SQL. */
export function lateUntil(db: Database | Transaction) {
  return db.raw<Date>(`clock_ms() + ? * interval '1 millisecond'`, [closingLimits.quietMs]) as never;
}

/** Whether nothing may be charged to the person of an account any more: they are being erased, or gone. */
export async function isPersonGone(db: Database | Transaction, userId: UserId): Promise<boolean> {
  const row = await db('account_closings').where({ user_id: userId }).first('state');
  return row !== undefined && !['stopping', 'settling'].includes(row.state);
}

/** Moves a closing on; `endWatch` alone ends it. @returns its row then */
export async function moveClosing(
  db: Database | Transaction,
  userId: UserId,
  {
    state,
    waitsFor = [],
  }: { readonly state: Exclude<ClosingState, 'closed'>; readonly waitsFor?: readonly ClosingWait[] },
): Promise<AccountClosingRow> {
  const [row] = await db('account_closings')
    .where({ user_id: userId })
    .update({ state, waits_for: [...waitsFor], closed_at: null })
    .returning('*');
  if (!row) throw new Error(`${userId} is not being closed`);
  return row;
}

/**
 * Ends the watch over a closed account, unless words came late since somebody read how long it lasts: those may have come
 * after they were looked for.
 * @param closing its row before they were looked for
 * @returns whether it is closed
 */
export async function endWatch(
  db: Database,
  { user_id: id, late_until: seen }: AccountClosingRow,
): Promise<boolean> {
  const ended = await db('account_closings')
    .where({ user_id: id, state: 'kept', late_until: seen })
    .whereRaw('late_until < clock_ms()')
    .update({ state: 'closed', waits_for: [], closed_at: db.raw('clock_ms()') });
  return ended === 1;
}

/** What an account still has that must end before its money can be settled, and what it still owes. */
export interface OpenBusiness {
  readonly rentals: number;
  readonly topups: number;
  readonly invoices: number;
  readonly disputes: number;
  readonly refunds: number;
  /** Whether debts and disputes are waited for no more. */
  readonly waitedEnough: boolean;
}

/** Counts what is open of an account that is being closed. */
export async function readOpenBusiness(db: Database | Transaction, userId: UserId): Promise<OpenBusiness> {
  const { rows } = await db.raw<{ rows: OpenBusiness[] }>(
    `select (select count(*) from rentals r where r.user_id = c.user_id and r.closed_at is null) as rentals,
            (select count(*) from topups t where t.user_id = c.user_id and t.closed_at is null) as topups,
            (select count(*) from invoices i where i.user_id = c.user_id and i.closed_at is null) as invoices,
            (select count(*) from refunds_and_disputes d
              where d.user_id = c.user_id and d.kind = 'dispute' and d.closed_at is null) as disputes,
            (select count(*) from refunds_and_disputes d
              where d.user_id = c.user_id and d.kind = 'refund' and d.closed_at is null) as refunds,
            c.requested_at < clock_ms() - :waitMs * interval '1 millisecond' as "waitedEnough"
       from account_closings c where c.user_id = :userId`,
    { userId, waitMs: closingLimits.waitMs },
  );
  const [row] = rows;
  if (!row) throw new Error(`${userId} is not being closed`);
  return row;
}

/**
 * Lists the payments of a user, by their own word or their top-up's, that nobody was credited with and that operators have
 * not resolved; the oldest first.
 */
export async function listParkedOf(db: Database | Transaction, userId: UserId): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select p.payment_id as id from parked_payments p left join topups t on t.id = p.topup_id
      where p.resolved_at is null and (p.user_id = :userId or t.user_id = :userId)
      order by p.parked_at, p.payment_id`,
    { userId },
  );
  return rows.map(({ id }) => id);
}

/** Lists what went back to cards, oldest first, and what a card refused. What nobody has answered is still in the wallet. */
export async function listReturns(db: Database, userId: UserId): Promise<ClosingRefundRow[]> {
  return db('closing_refunds')
    .where({ user_id: userId })
    .whereRaw('coalesce(refund_id, refused_code) is not null')
    .orderBy('id');
}

/**
 * Returns how old the oldest mail or notice is that is still to be sent to the person, in milliseconds; undefined without
 * one. Codes do not count, and neither does what could not be sent for so long that nobody waits for it any more.
 */
export async function oldestMailMs(db: Database, userId: UserId): Promise<number | undefined> {
  const { rows } = await db.raw<{ rows: { ageMs: number | null }[] }>(
    `select (extract(epoch from max(clock_ms() - at)) * 1000)::float8 as "ageMs"
       from (select m.created_at as at from users u join mail_outbox m on m.recipient = u.email
              where u.id = :userId and m.sent_at is null and not m.wipe_after_sending
             union all
             select noted_at from user_notices where user_id = :userId and told_at is null) untold
      where at > clock_ms() - :waitMs * interval '1 millisecond'`,
    { userId, waitMs: closingLimits.mailMs },
  );
  return rows[0]?.ageMs ?? undefined;
}

/** What an account has now, for whoever thinks of closing it. */
export interface StillOpen {
  readonly walletId: number;
  readonly availableCents: number;
  readonly machines: number;
  readonly openInvoices: number;
  readonly openDisputes: number;
}

export async function readStillOpen(db: Database, userId: UserId): Promise<StillOpen> {
  const { rows } = await db.raw<{ rows: StillOpen[] }>(
    `select w.id as "walletId", w.available_cents as "availableCents",
            (select count(*) from rentals r where r.user_id = w.user_id and r.closed_at is null) as machines,
            (select count(*) from invoices i where i.user_id = w.user_id and ${isOwedSql('i')}) as "openInvoices",
            (select count(*) from refunds_and_disputes d
              where d.user_id = w.user_id and d.kind = 'dispute' and d.closed_at is null) as "openDisputes"
       from wallets w where w.user_id = ?`,
    [userId],
  );
  const [row] = rows;
  if (!row) throw new Error(`no wallet of user ${userId}`);
  return row;
}
