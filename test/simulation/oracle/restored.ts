import { told, type Evidence } from './evidence.js';

/**
 * Decision 67: whoever stopped a rental in the time that a restore has lost pays until that stop, and no more than they
 * were shown. That they pay for all of it is the judge's of bills.
 * @param lost the time since the copy, in milliseconds since 1970
 */
export async function judgeLostStops(
  { ask, told: said }: Evidence,
  lost: { readonly fromMs: number; readonly toMs: number },
): Promise<string[]> {
  const rows = await ask<{ id: string; ended_ms: string | null; paid: string }>(
    `select r.id, extract(epoch from r.ended_at) * 1000 as ended_ms,
            coalesce((select -sum(amount_cents) from seen_entries e where e.rental_no = r.no), 0)
              + r.overage_cents + r.written_off_cents as paid
       from rentals r`,
  );
  const stops = said.stops.filter(
    ({ status, sentMs }) => status === 200 && sentMs >= lost.fromMs && sentMs <= lost.toMs,
  );
  return stops.flatMap(({ rentalId, sentMs, answeredMs, finalChargedCents = Infinity }) => {
    const row = rows.find(({ id }) => id === rentalId);
    if (row === undefined) return [];
    const endedMs = Number(row.ended_ms ?? Infinity);
    return [
      ...told(
        endedMs < sentMs || endedMs > answeredMs,
        `it ended ${endedMs - sentMs} ms after its lost stop`,
      ),
      ...told(
        Number(row.paid) > finalChargedCents,
        `it costs ${row.paid}, and ${finalChargedCents} were shown`,
      ),
    ].map((fault) => `${rentalId}: ${fault}`);
  });
}
