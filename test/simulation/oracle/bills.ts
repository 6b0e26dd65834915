import { HOUR_MS, told, type Evidence } from './evidence.js';
import { SMALLEST_INVOICE_CENTS } from './reversals.js';
import { usedAfter } from './usage.js';

/** A settled rental and who pays for it; instants in milliseconds since 1970, amounts in cents. */
interface Bill {
  readonly id: string;
  readonly status: string;
  readonly price: string;
  readonly max_spend: string | null;
  readonly running_ms: string | null;
  readonly ended_ms: string | null;
  readonly stop_reason: string | null;
  readonly net: string;
  readonly overage: string;
  readonly written_off: string;
  /** The amounts of its overage invoices. */
  readonly invoices: readonly string[];
}

/** Decisions 24 to 27: what each settled rental costs, and what of that its wallet pays, an invoice asks for, or nobody. */
export async function judgeBills({ ask }: Evidence): Promise<string[]> {
  const rows = await ask<Bill>(
    `select r.id, r.status, r.price_per_hour_cents as price, r.max_spend_cents as max_spend, r.stop_reason,
            extract(epoch from r.running_at) * 1000 as running_ms, extract(epoch from r.ended_at) * 1000 as ended_ms,
            coalesce((select -sum(amount_cents) from seen_entries e where e.rental_no = r.no), 0) as net,
            r.overage_cents as overage, r.written_off_cents as written_off,
            array(select i.amount_cents::text from invoices i
                   where i.rental_no = r.no and i.reason = 'overage') as invoices
       from rentals r where r.settled_at is not null order by r.no`,
  );
  return rows.flatMap((row) => judgeBill(row).map((fault) => `${row.id}: ${fault}`));
}

/** What a rental costs by its rate and instants: the bill, rounded half up, and the whole cents of it that are owed. */
function costOf({ status, price, max_spend, running_ms, ended_ms }: Bill): { due: number; owed: number } {
  if (status === 'failed' || running_ms === null || ended_ms === null) return { due: 0, owed: 0 };
  const elapsedMs = Math.max(0, Math.round(Number(ended_ms) - Number(running_ms)));
  const exact = (2n * BigInt(price) * BigInt(elapsedMs) + BigInt(HOUR_MS)) / (2n * BigInt(HOUR_MS));
  const due = Math.min(Number(max_spend ?? Infinity), Number(exact));
  return { due, owed: Math.min(due, usedAfter(elapsedMs, price)) };
}

/**
 * Decision 25: the bill is a function of rate and instants only. Decision 26, "End of the money": what the wallet did not
 * pay of what is owed is asked for by one invoice, and written off only where that is below its smallest amount.
 */
function judgeBill(row: Bill): string[] {
  const { due, owed } = costOf(row);
  const [net, overage, writtenOff] = [row.net, row.overage, row.written_off].map(Number) as [
    number,
    number,
    number,
  ];
  const paid = net + overage + writtenOff;
  const unpaid = Math.max(0, owed - net);
  const asked = unpaid < SMALLEST_INVOICE_CENTS ? 0 : unpaid;
  const invoices = row.invoices.join(' and ');
  const lifeMs = Number(row.ended_ms) - Number(row.running_ms);
  const life = `${String(row.stop_reason)} ended it (${row.status}) after ${lifeMs} ms at ${row.price} cents an hour`;
  return [
    ...told(paid !== due, `${life}: it costs ${paid}, and must cost ${due}`),
    ...told(
      overage !== asked,
      `its wallet did not pay ${unpaid} cents: ${overage} are owed, and ${writtenOff} written off`,
    ),
    ...told(
      invoices !== (asked === 0 ? '' : String(asked)),
      `its wallet did not pay ${unpaid} cents, and invoices ask for ${invoices || 'nothing'}`,
    ),
  ];
}
