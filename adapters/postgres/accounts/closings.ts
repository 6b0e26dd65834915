import type { UserId } from '../../../domain/ids.js';
import { accountClosing, type ClosingState, type ClosingWait } from '../../../domain/accounts/closing.js';
import { isDebtSql } from '../invoices/debts.js';
import type { Database, Transaction } from '../database.js';
import type { AccountClosingRow, ClosingRefundRow } from '../rows/tables.js';

/** Notes that an account is to be closed, once. @returns whether it is noted now */
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
  return rows.length > 0;
}

export async function findClosing(
  db: Database | Transaction,
  userId: UserId,
): Promise<AccountClosingRow | undefined> {
  return db('account_closings').where({ user_id: userId }).first();
}

/** @throws Refusal account_closing: nothing new is begun for an account that is being closed */
export async function refuseWhenClosing(db: Database | Transaction, userId: UserId): Promise<void> {
  const closing = await findClosing(db, userId);
  if (closing) throw accountClosing();
}

/**
 * Lists the accounts that are not closed yet, or that money came back to afterwards: each should have a workflow.
 */
export async function listOpenClosings(db: Database): Promise<UserId[]> {
  const { rows } = await db.raw<{ rows: { id: UserId }[] }>(
    `select c.user_id as id from account_closings c join wallets w using (user_id)
      where (c.closed_at is null or w.available_cents + w.reserved_cents > 0)
        and c.requested_at < clock_ms() - interval '15 seconds'
      order by c.requested_at limit 1000`,
  );
  return rows.map(({ id }) => id);
}

/** Moves a closing on. @returns its row then */
export async function moveClosing(
  db: Database | Transaction,
  userId: UserId,
  { state, waitsFor = [] }: { readonly state: ClosingState; readonly waitsFor?: readonly ClosingWait[] },
): Promise<AccountClosingRow> {
  const [row] = await db('account_closings')
    .where({ user_id: userId })
    .update({
      state,
      waits_for: [...waitsFor],
      closed_at: state === 'closed' ? db.raw('coalesce(closed_at, clock_ms())') : null,
    })
    .returning('*');
  if (!row) throw new Error(`${userId} is not being closed`);
  return row;
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
  /** Whether the person has been gone for so long that nothing of them comes by any more. */
  readonly isQuiet: boolean;
}

/**
 * Counts what is open of an account that is being closed.
 * @param waitMs and quietMs: for how long debts and disputes are waited for, and what may come late is looked for
 */
export async function readOpenBusiness(
  db: Database | Transaction,
  userId: UserId,
  { waitMs, quietMs }: { readonly waitMs: number; readonly quietMs: number },
): Promise<OpenBusiness> {
  const { rows } = await db.raw<{ rows: OpenBusiness[] }>(
    `select (select count(*) from rentals r where r.user_id = c.user_id and r.closed_at is null) as rentals,
            (select count(*) from topups t where t.user_id = c.user_id and t.closed_at is null) as topups,
            (select count(*) from invoices i where i.user_id = c.user_id and i.status in ('draft', 'open')
                and (${isDebtSql('i')} or i.closed_at is null)) as invoices,
            (select count(*) from refunds_and_disputes d
              where d.user_id = c.user_id and d.kind = 'dispute' and d.closed_at is null) as disputes,
            (select count(*) from refunds_and_disputes d
              where d.user_id = c.user_id and d.kind = 'refund' and d.closed_at is null) as refunds,
            c.requested_at < clock_ms() - :waitMs * interval '1 millisecond' as "waitedEnough",
            coalesce(c.erased_at < clock_ms() - :quietMs * interval '1 millisecond', false) as "isQuiet"
       from account_closings c where c.user_id = :userId`,
    { userId, waitMs, quietMs },
  );
  const [row] = rows;
  if (!row) throw new Error(`${userId} is not being closed`);
  return row;
}

/** Lists what went back to cards, oldest first, and what a card refused. */
export async function listReturns(db: Database, userId: UserId): Promise<ClosingRefundRow[]> {
  return db('closing_refunds').where({ user_id: userId }).orderBy('id');
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
            (select count(*) from invoices i where i.user_id = w.user_id and i.status in ('draft', 'open')
                and ${isDebtSql('i')}) as "openInvoices",
            (select count(*) from refunds_and_disputes d
              where d.user_id = w.user_id and d.kind = 'dispute' and d.closed_at is null) as "openDisputes"
       from wallets w where w.user_id = ?`,
    [userId],
  );
  const [row] = rows;
  if (!row) throw new Error(`no wallet of user ${userId}`);
  return row;
}
