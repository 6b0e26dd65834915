import type { UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';
import { runPrepared, ReadAhead, type Prepared } from '../prepared.js';
import { isOwedSql } from '../invoices/debts.js';

/** The answer of GET /v1/billing/balance (decision 31, "Balance and config"). Amounts in cents. */
export interface Balance {
  readonly availableCents: number;
  readonly reservedCents: number;
  readonly openInvoicesCents: number;
  readonly openInvoiceCount: number;
  /** The hourly cost of the running rentals. */
  readonly burnPerHourCents: number;
  /** The rest of the holds of the running rentals. */
  readonly holdsCents: number;
  readonly readAt: Date;
}

interface Row {
  available_cents: number;
  reserved_cents: number;
  open_invoices_cents: number;
  open_invoice_count: number;
  burn_per_hour_cents: number;
  holds_cents: number;
  read_at: Date;
}

const balanceOfUser: Prepared<readonly [UserId]> = {
  name: 'balance_of_user',
  sql: `select w.available_cents, w.reserved_cents, clock_ms() as read_at,
               i.open_invoices_cents, i.open_invoice_count, r.burn_per_hour_cents, r.holds_cents
          from wallets w
          cross join lateral (
            select coalesce(sum(amount_cents), 0)::bigint as open_invoices_cents, count(*) as open_invoice_count
            from invoices v where v.user_id = w.user_id and ${isOwedSql('v')}) i
          cross join lateral (
            select coalesce(sum(price_per_hour_cents), 0)::bigint as burn_per_hour_cents,
                   coalesce(sum(hold_cents), 0)::bigint as holds_cents
            from meters where wallet_id = w.id) r
         where w.user_id = $1`,
};

/** What getBalance will read. */
export function balanceAhead(userId: UserId): ReadAhead {
  return new ReadAhead(balanceOfUser, [userId]);
}

/**
 * Reads a user's balance, all from one moment. Open invoices are debts only (decision 31, "Balance
 * and config").
 * @param ahead where it may have been read already
 */
export async function getBalance(db: Database, userId: UserId, ahead?: ReadAhead): Promise<Balance> {
  const [row] = await runPrepared<Row, readonly [UserId]>(db, balanceOfUser, [userId], ahead);
  if (!row) throw new Error(`no wallet of user ${userId}`);
  return {
    availableCents: row.available_cents,
    reservedCents: row.reserved_cents,
    openInvoicesCents: row.open_invoices_cents,
    openInvoiceCount: row.open_invoice_count,
    burnPerHourCents: row.burn_per_hour_cents,
    holdsCents: row.holds_cents,
    readAt: row.read_at,
  };
}
