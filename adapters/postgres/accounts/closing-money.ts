import type { UserId } from '../../../domain/ids.js';
import type { ReturnablePayment } from '../../../domain/accounts/closing.js';
import { causePrefixes } from '../../../domain/causes.js';
import type { Database, Transaction } from '../database.js';
import { isDebtSql } from '../invoices/debts.js';
import type { ClosingRefundRow } from '../rows/tables.js';

/** Finds what is to go back of a payment and was not answered yet: at most one at a time. */
export async function findUnansweredReturn(
  db: Database | Transaction,
  userId: UserId,
): Promise<ClosingRefundRow | undefined> {
  return db('closing_refunds')
    .where({ user_id: userId })
    .whereNull('refund_id')
    .whereNull('refused_code')
    .first();
}

/** Notes what the processor answered: the id of the refund, or the code of its refusal. */
export async function answerReturn(
  db: Database,
  { id }: Pick<ClosingRefundRow, 'id'>,
  answer: { readonly refund_id: string } | { readonly refused_code: string },
): Promise<void> {
  await db('closing_refunds').where({ id }).update(answer);
}

/**
 * Reads what of a wallet's balance was given by operators and is not used up, in cents. What a rental cost in the end
 * used given money first, at the time of its last charge; a refund of a rental brings back what it took.
 */
export async function readGivenCents(db: Database | Transaction, walletId: number): Promise<number> {
  const { rows } = await db.raw<{ rows: { cents: number }[] }>(
    `with moves as (
       select max(s.latest_at) as at, sum(s.amount_cents) as cents, s.rental_no
         from ledger_sums(:walletId, 1, (select seq from wallets where id = :walletId)) s
        where s.rental_no is not null
        group by s.rental_no
       union all
       select e.created_at, e.amount_cents, null
         from kept_entries e join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
        where e.wallet_id = :walletId and e.type = 'adjustment' and e.rental_no is null
          and starts_with(c.cause, :operation)
     ), running as (
       select sum(cents) over (order by at, cents desc, rental_no) as total from moves
     )
     select greatest(0, coalesce((select sum(cents) from moves), 0)
                        - least(0, coalesce(min(total), 0)))::bigint as cents
       from running`,
    { walletId, operation: causePrefixes.operation },
  );
  return rows[0]?.cents ?? 0;
}

/**
 * Lists the payments of a wallet that money can go back of, newest first, also those that paid a debt: what a dispute took
 * back may have been paid a second time. One that is disputed gives none, and neither does one whose card has refused.
 */
export async function listReturnable(
  db: Database | Transaction,
  walletId: number,
): Promise<ReturnablePayment[]> {
  const { rows } = await db.raw<{ rows: ReturnablePayment[] }>(
    `select p.payment_id as "paymentId", p.cents - coalesce(r.cents, 0)::bigint as "leftCents"
       from (select substr(c.cause, length(:payment) + 1) as payment_id, e.amount_cents as cents, e.created_at as at
               from kept_entries e join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
              where e.wallet_id = :walletId and starts_with(c.cause, :payment)
              union all
             select i.payment_id, i.amount_cents, i.paid_at from invoices i
              where i.wallet_id = :walletId and i.status = 'paid' and i.payment_id is not null
                and ${isDebtSql('i')}) p
       left join lateral (
         select sum(d.amount_cents) as cents,
                bool_or(d.kind = 'dispute' and (d.closed_at is null or d.taken_at is not null)) as disputed
           from refunds_and_disputes d
          where d.payment_id = p.payment_id and d.given_back_at is null
            and (d.kind = 'refund' or d.closed_at is null or d.taken_at is not null)) r on true
      where not coalesce(r.disputed, false) and p.cents > coalesce(r.cents, 0)
        and not exists (select 1 from closing_refunds x
                         where x.payment_id = p.payment_id and x.refused_code is not null)
      order by p.at desc, p.payment_id`,
    { walletId, payment: causePrefixes.payment },
  );
  return rows;
}

/** Reads what an account owes and has not paid, in cents, also where it was given up: it is set off against its money. */
export async function readOwedCents(db: Database | Transaction, userId: UserId): Promise<number> {
  const { rows } = await db.raw<{ rows: { cents: number }[] }>(
    `select coalesce(sum(amount_cents), 0)::bigint as cents from invoices i
      where i.user_id = ? and i.status in ('draft', 'open', 'uncollectible') and i.void_requested_at is null
        and ${isDebtSql('i')}`,
    [userId],
  );
  return rows[0]?.cents ?? 0;
}
