import type { Finding } from '../../../domain/operations/reconcile.js';
import type { Database } from '../database.js';
import { paymentCauseSql, reversalCausesSql } from '../ledger/cause-sql.js';

/**
 * Compares reversals: each refund and dispute of a payment of ours was taken, or given back, as the processor did, and
 * its row agrees with its entries and its invoice (decision 30, "Reversed payments").
 */
export async function compareReversals(db: Database, runId: number, graceMs: number): Promise<Finding[]> {
  const { rows } = await db.raw<{ rows: Finding[] }>(
    `with matched as (
       select d.id, d.kind as document, d.status, d.payment_id, d.amount_cents, d.currency, d.taken, d.returned, d.at,
              to_jsonb(r) as ours, r.id is not null as is_known, r.taken_at, r.given_back_at, r.user_id, r.invoice_id,
              r.amount_cents as our_cents, r.debited_cents, r.invoiced_cents,
              coalesce(i.amount_cents, 0) as invoice_cents,
              posted.debited as posted_cents, posted.returned as returned_cents,
              exists (select 1 from ledger_causes c where c.cause = ${paymentCauseSql('d.payment_id')})
                or exists (select 1 from invoices p where p.payment_id = d.payment_id) as is_ours
         from reconcile_documents d
         left join refunds_and_disputes r on r.id = d.id
         left join invoices i on i.id = r.invoice_id
        cross join lateral (
          select coalesce(-sum(e.amount_cents) filter (where e.amount_cents < 0), 0)::bigint as debited,
                 coalesce(sum(e.amount_cents) filter (where e.amount_cents > 0), 0)::bigint as returned
            from ledger_causes c join kept_entries e on e.wallet_id = c.wallet_id and e.seq = c.seq
           where c.cause = any (${reversalCausesSql('d.kind', 'd.id')})
        ) posted
        where d.run_id = :runId and d.kind in ('refund', 'dispute')
          and (d.at is null or d.at < clock_ms() - :graceMs * interval '1 millisecond')
     ), judged as (
       select m.*, case
           when status = 'missing' then case when is_known then 'reversal_without_document' end
           when taken and not returned and is_ours and taken_at is null then 'reversal_missing'
           when returned and taken_at is not null and given_back_at is null then 'reversal_not_returned'
           when is_known and (our_cents <> amount_cents or posted_cents <> debited_cents
                or returned_cents <> case when given_back_at is null then 0 else debited_cents end
                or invoice_cents <> invoiced_cents) then 'reversal_amount_differs'
         end as finding
         from matched m
     )
     select finding as kind, id as subject,
            jsonb_strip_nulls(jsonb_build_object('document', document, 'paymentId', payment_id, 'userId', user_id,
              'invoiceId', invoice_id)) as "subjectIds",
            jsonb_strip_nulls(jsonb_build_object(
              'processor', jsonb_build_object('status', status, 'amountCents', amount_cents, 'currency', currency,
                'taken', taken, 'returned', returned, 'at', at),
              'ours', ours,
              'entries', jsonb_build_object('debitedCents', posted_cents, 'givenBackCents', returned_cents),
              'invoiceCents', invoice_cents)) as evidence
       from judged where finding is not null`,
    { runId, graceMs },
  );
  return rows;
}
