import type { InvoiceId, UserId } from '../../../domain/ids.js';
import {
  moveOf,
  partsOf,
  type BalanceParts,
  type LedgerStep,
} from '../../../domain/accounts/balance-parts.js';
import {
  closingLimits,
  decidedPayment,
  unknownPayment,
  type ReturnablePayment,
} from '../../../domain/accounts/closing.js';
import { causePrefixes, reversalReturned } from '../../../domain/cause-prefixes.js';
import { causeOf } from '../../../domain/causes.js';
import type { Database, Transaction } from '../database.js';
import { isDebtSql, isUnsettledSql } from '../invoices/debts.js';
import type { ClosingRefundRow, InvoiceRow } from '../rows/tables.js';

/** Finds what is to go back of a payment and was not answered yet: at most one at a time. */
export async function findUnansweredReturn(
  db: Database | Transaction,
  userId: UserId,
): Promise<ClosingRefundRow | undefined> {
  return db('closing_refunds')
    .where({ user_id: userId })
    .whereNull('refund_id')
    .whereNull('refused_code')
    .whereNull('withdrawn_at')
    .first();
}

/** Notes what the processor answered: the id of the refund, the code of its refusal, or that it was refused for now. */
export async function answerReturn(
  db: Database | Transaction,
  { id }: Pick<ClosingRefundRow, 'id'>,
  answer: Partial<Pick<ClosingRefundRow, 'refund_id' | 'refused_code' | 'refused_tries' | 'called_at'>>,
): Promise<void> {
  await db('closing_refunds').where({ id }).update(answer);
}

/** Lists what was to go back of payments that the processor's account does not know, while nobody has decided about them. */
export async function listUnknownReturns(
  db: Database | Transaction,
  userId: UserId,
): Promise<ClosingRefundRow[]> {
  return db('closing_refunds').where({ user_id: userId, refused_code: unknownPayment });
}

/** Withdraws what was to go back of a payment that the processor's account did not know: it does now. */
export async function withdrawUnknown(db: Database, { id }: Pick<ClosingRefundRow, 'id'>): Promise<void> {
  await db('closing_refunds')
    .where({ id, refused_code: unknownPayment })
    .update({ refused_code: null, withdrawn_at: db.raw('clock_ms()') });
}

/** Notes that operators have decided about what the processor's account does not know: it has no share of what comes later. */
export async function noteDecided(trx: Transaction, userId: UserId): Promise<void> {
  await trx('closing_refunds')
    .where({ user_id: userId, refused_code: unknownPayment })
    .update({ refused_code: decidedPayment });
}

/**
 * Reads which part of a wallet's balance was paid in, and which was given by operators. What a rental cost
 * counts between the moves that its order matters to: what operators, reversals and closings moved. Payments only add to
 * what was paid in, so an account with thousands of them is read in few sums. A payment that was taken back and came back
 * again counts as never taken.
 */
export async function readBalanceParts(db: Database | Transaction, walletId: number): Promise<BalanceParts> {
  const { rows } = await db.raw<{ rows: LedgerStep[] }>(
    `with entries as (
       select e.seq, e.created_at as at, e.amount_cents as cents, e.type::text as type, c.cause,
              -- A refund's or a dispute's own entries are one step.
              case when split_part(c.cause, ':', 1) = any (:reversals)
                   then split_part(c.cause, ':', 2) else c.cause end as step
         from kept_entries e left join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
        where e.wallet_id = :walletId and e.rental_no is null
     ), stretches as (
       select lag(seq, 1, 0::bigint) over (order by seq) + 1 as first, seq - 1 as last
         from (select seq from entries where starts_with(cause, :payment) is not true
               union all select seq + 1 from wallets where id = :walletId) ends
     ), steps as (
       select t.last as seq, max(s.latest_at) as at, sum(s.amount_cents)::bigint as cents, null as type, null as cause
         from stretches t cross join lateral ledger_sums(:walletId, t.first, t.last) s
        where t.last >= t.first and s.rental_no is not null
        group by t.last, s.rental_no
       union all
       select max(seq), max(at), sum(cents)::bigint, min(type), min(cause) from entries group by step
     )
     select s.cause, s.type, s.cents,
            exists (select 1 from parked_payments p where :operation || p.credited_by = s.cause) as "isParkedCredit",
            coalesce(s.at > (select c.requested_at from account_closings c join wallets w using (user_id)
                              where w.id = :walletId), false) as "isAfterRequest"
       from steps s where s.cents <> 0
      order by s.seq, s.cents desc, s.cause`,
    {
      walletId,
      operation: causePrefixes.operation,
      payment: causePrefixes.payment,
      reversals: ['refund', 'dispute'].flatMap((kind) => [kind, (kind + reversalReturned).slice(0, -1)]),
    },
  );
  return partsOf(rows.map(moveOf));
}

/**
 * Lists the payments of a wallet that money can go back of, newest first: those that were credited, by themselves or by
 * an operator, then those that paid a debt: what a dispute took may have been paid a second time. One that is disputed
 * gives none, and neither does one whose card refused, or sent back what it was given too often.
 */
export async function listReturnable(
  db: Database | Transaction,
  walletId: number,
): Promise<ReturnablePayment[]> {
  const { rows } = await db.raw<{ rows: ReturnablePayment[] }>(
    `select p.payment_id as "paymentId", p.cents - coalesce(r.cents, 0)::bigint as "leftCents",
            coalesce(x.unknown, false) as "isUnknown"
       from (select substr(c.cause, length(:payment) + 1) as payment_id, e.amount_cents as cents, e.created_at as at,
                    false as is_debt
               from kept_entries e join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
              where e.wallet_id = :walletId and starts_with(c.cause, :payment)
              union all
             select k.payment_id, least(k.amount_cents, e.amount_cents), e.created_at, false
               from parked_payments k
               join ledger_causes c on c.cause = :operation || k.credited_by
               join kept_entries e on e.wallet_id = c.wallet_id and e.seq = c.seq
              where e.wallet_id = :walletId and k.currency = 'usd'
              union all
             select i.payment_id, i.amount_cents, i.paid_at, c.cause is null
               from invoices i left join ledger_causes c on c.cause = :returned || i.id
              where i.wallet_id = :walletId and i.status = 'paid' and i.payment_id is not null and ${isDebtSql('i')}) p
       left join lateral (
         select sum(d.amount_cents) as cents,
                bool_or(d.kind = 'dispute' and (d.closed_at is null or d.taken_at is not null)) as disputed
           from refunds_and_disputes d
          where d.payment_id = p.payment_id and d.given_back_at is null
            and (d.kind = 'refund' or d.closed_at is null or d.taken_at is not null)) r on true
       left join lateral (
         select bool_or(c.refused_code = :unknownPayment) as unknown, bool_or(c.refused_code <> :unknownPayment) as refused,
                count(d.given_back_at) as bounces
           from closing_refunds c left join refunds_and_disputes d on d.id = c.refund_id
          where c.payment_id = p.payment_id) x on true
      where not coalesce(r.disputed, false) and p.cents > coalesce(r.cents, 0)
        and not coalesce(x.refused, false) and x.bounces < :bounces
      order by p.is_debt, p.at desc, p.payment_id`,
    {
      walletId,
      payment: causePrefixes.payment,
      operation: causePrefixes.operation,
      returned: causePrefixes.invoiceReturned,
      bounces: closingLimits.refundTries,
      unknownPayment,
    },
  );
  return rows;
}

/** Finds how many cents the balance of a closing account paid of a debt; 0: none. */
export async function findSetOff(trx: Transaction, invoiceId: InvoiceId): Promise<number> {
  const { rows } = await trx.raw<{ rows: { cents: number }[] }>(
    `select -e.amount_cents as cents from ledger_causes c
       join kept_entries e on e.wallet_id = c.wallet_id and e.seq = c.seq where c.cause = ?`,
    [causeOf({ kind: 'set_off', invoiceId })],
  );
  return rows[0]?.cents ?? 0;
}

/** Lists the debts of an account that nothing has settled, oldest first: those that were given up are set off as well. */
export async function listUnsettledDebts(
  db: Database | Transaction,
  userId: UserId,
): Promise<Pick<InvoiceRow, 'id' | 'amount_cents' | 'status'>[]> {
  const { rows } = await db.raw<{ rows: Pick<InvoiceRow, 'id' | 'amount_cents' | 'status'>[] }>(
    `select i.id, i.amount_cents, i.status from invoices i
      where i.user_id = ? and ${isUnsettledSql('i')} and i.void_requested_at is null
        and ${isDebtSql('i')}
      order by i.id`,
    [userId],
  );
  return rows;
}
