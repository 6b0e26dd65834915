import type { Finding } from '../../../domain/operations/reconcile.js';
import type { Database } from '../database.js';

/**
 * Compares invoices: each invoice and its mirror at the processor have the same state and the same amount (decision 35,
 * "Invoices and reminders").
 */
export async function compareInvoices(db: Database, runId: number, graceMs: number): Promise<Finding[]> {
  const { rows } = await db.raw<{ rows: Finding[] }>(
    `with matched as (
       select d.id as subject, d.status, d.amount_cents, d.payment_id, d.our_id, d.at, i.id as invoice_id,
              i.status as our_status, i.amount_cents as our_cents, coalesce(i.user_id, n.user_id) as user_id,
              i.payment_id as our_payment_id, n.processor_invoice_id as other_mirror, i.void_requested_at
         from reconcile_documents d
         left join invoices i on i.processor_invoice_id = d.id
         left join invoices n on n.id = d.our_id
        where d.run_id = :runId and d.kind = 'invoice'
          and (d.at is null or d.at < clock_ms() - :graceMs * interval '1 millisecond')
       union all
       select i.id, 'missing', 0, null, i.id, null, i.id, i.status, i.amount_cents, i.user_id, null, null, null
         from invoices i
        where i.processor_invoice_id is null and i.status <> 'void'
          and i.created_at < clock_ms() - :graceMs * interval '1 millisecond'
     ), judged as (
       select m.*, case
           when invoice_id is null then
             case when our_id is not null and status not in ('void', 'missing') then 'invoice_unknown_here' end
           when status = 'missing' then case when our_status <> 'void' then 'invoice_missing_there' end
           when status <> our_status then 'invoice_state_differs'
           when amount_cents <> our_cents and status not in ('draft', 'void') then 'invoice_amount_differs'
         end as kind
         from matched m
     )
     select kind, subject,
            jsonb_strip_nulls(jsonb_build_object('invoiceId', coalesce(invoice_id, our_id), 'userId', user_id,
              'paymentId', coalesce(payment_id, our_payment_id))) as "subjectIds",
            jsonb_strip_nulls(jsonb_build_object(
              'processor', jsonb_build_object('status', status, 'amountCents', amount_cents, 'paymentId', payment_id,
                'at', at),
              'ours', case when invoice_id is not null then jsonb_build_object('status', our_status,
                'amountCents', our_cents, 'paymentId', our_payment_id, 'voidRequestedAt', void_requested_at) end,
              'ourMirrorIs', other_mirror)) as evidence
       from judged where kind is not null`,
    { runId, graceMs },
  );
  return rows;
}
