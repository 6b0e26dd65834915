import type { Finding } from '../../../domain/operations/reconcile.js';
import type { Database } from '../database.js';
import { paymentCauseSql } from '../ledger/cause-sql.js';
import { isDebtSql } from '../invoices/debts.js';

/**
 * Compares charges: each charge that took money is one ledger entry, or one debt invoice that it paid (decision 37,
 * "Brakes and the watermark"), and each of those is a charge. A charge that was given back whole before anybody was
 * credited needs neither.
 */
export async function compareCharges(db: Database, runId: number, graceMs: number): Promise<Finding[]> {
  const { rows } = await db.raw<{ rows: Finding[] }>(
    `with matched as (
       select d.id, d.charge_id, d.status, d.amount_cents, d.refunded_cents, d.currency, d.at, d.our_id, d.customer_id,
              e.wallet_id, e.seq, e.type as entry_type, e.amount_cents as entry_cents,
              i.id as invoice_id, i.amount_cents as invoice_cents, others.entries as other_entries,
              p.reason as parked_why, p.payment_id is not null and p.resolved_at is null as is_parked,
              p.payment_id is not null as was_parked, w.user_id
         from reconcile_documents d
         left join ledger_causes c on c.cause = ${paymentCauseSql('d.id')}
         left join kept_entries e on e.wallet_id = c.wallet_id and e.seq = c.seq
         left join wallets w on w.id = e.wallet_id
         left join invoices i on i.payment_id = d.id and i.status = 'paid' and ${isDebtSql('i')}
         left join parked_payments p on p.payment_id = d.id
        cross join lateral (
          select count(*)::int as entries from kept_entries x
           where x.processor_charge_id = d.charge_id and (x.wallet_id, x.seq) is distinct from (e.wallet_id, e.seq)
        ) others
        where d.run_id = :runId and d.kind = 'charge'
          and (d.at is null or d.at < clock_ms() - :graceMs * interval '1 millisecond')
     ), judged as (
       select m.*, case
           when status = 'missing' then
             case when entry_cents is not null or invoice_id is not null then 'entry_without_charge' end
           when (entry_cents is not null)::int + (invoice_id is not null)::int + other_entries > 1
             then 'charge_counted_twice'
           when coalesce(entry_cents, invoice_cents) <> amount_cents
                or (entry_cents is not null or invoice_id is not null) and currency <> 'usd' then 'charge_amount_differs'
           when entry_cents is null and invoice_id is null and other_entries = 0 and refunded_cents < amount_cents then
             case when is_parked then 'charge_parked' when not was_parked then 'charge_without_entry' end
         end as kind
         from matched m
     )
     select j.kind, j.id as subject,
            jsonb_strip_nulls(jsonb_build_object('userId', coalesce(j.user_id, u.id), 'topupId', j.our_id,
              'chargeId', j.charge_id, 'invoiceId', j.invoice_id, 'walletId', j.wallet_id, 'seq', j.seq)) as "subjectIds",
            jsonb_strip_nulls(jsonb_build_object(
              'processor', jsonb_build_object('status', j.status, 'amountCents', j.amount_cents,
                'refundedCents', j.refunded_cents, 'currency', j.currency, 'at', j.at, 'customerId', j.customer_id),
              'entry', case when j.entry_cents is not null then
                jsonb_build_object('type', j.entry_type, 'amountCents', j.entry_cents) end,
              'otherEntriesOfThisCharge', nullif(j.other_entries, 0),
              'debtInvoice', case when j.invoice_id is not null then
                jsonb_build_object('id', j.invoice_id, 'amountCents', j.invoice_cents) end,
              'parked', j.parked_why,
              'topup', (select jsonb_build_object('status', t.status, 'error', t.error) from topups t where t.id = j.our_id)
            )) as evidence
       from judged j left join users u on u.processor_customer_id = j.customer_id
      where j.kind is not null`,
    { runId, graceMs },
  );
  return rows;
}
