import { told, type Evidence } from './evidence.js';

/** Decisions 4 and 15: no answer was untrue later, neither what was said to be nor what was said never to be. */
export async function judgeAnswers({ ask, told: said }: Evidence): Promise<string[]> {
  const made = await ask<{ id: string }>(
    // A top-up that ended before anything was asked of the payer stays on record as failed.
    `select id from rentals union all select id from topups where status <> 'failed'
     union all select id from rental_changes where answered_at is not null and refused is null`,
  );
  const bills = await ask<{ id: string; net: string }>(
    `select r.id, coalesce((select -sum(amount_cents) from seen_entries e where e.rental_no = r.no), 0) as net
       from rentals r`,
  );
  const asked = await ask<{ id: string; by: string }>(
    `select r.id, s.requested_by as by from stop_requests s join rentals r on r.no = s.rental_no
      where not exists (select 1 from account_closings c
                         where c.user_id = r.user_id and c.requested_at <= s.requested_at)`,
  );
  const net = new Map(bills.map((bill) => [bill.id, Number(bill.net)]));
  const wanted = new Set(said.stops.map(({ rentalId }) => rentalId));
  const revoked = [...said.rentals.values()].filter(
    ({ keyId }) => keyId !== undefined && said.keys.get(keyId)?.revokingMs !== undefined,
  );
  for (const { rentalId } of revoked) wanted.add(rentalId);
  return [
    ...made
      .filter(({ id }) => said.never.has(id))
      .map(({ id }) => `${id} was said never to be, and is there`),
    ...said.stops.flatMap(({ rentalId, finalChargedCents: final }) =>
      told(
        final !== undefined && final !== net.get(rentalId),
        `${rentalId} was said to have cost ${final}, and costs ${net.get(rentalId)}`,
      ),
    ),
    ...asked
      .filter(({ id, by }) => by === 'user' && !wanted.has(id))
      .map(({ id }) => `the end of ${id} was asked for by nobody whom it concerns`),
  ];
}
