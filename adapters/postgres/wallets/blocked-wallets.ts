import type { RentalId } from '../../../domain/ids.js';
import type { Database } from '../database.js';

export interface BlockedPod {
  readonly rentalId: RentalId;
  readonly providerCode: string;
  readonly podId: string;
}

/**
 * Asks for the end of the rentals of wallets that could not be metered for long (decision 29, "Broken wallets"), and
 * returns the pods that must end now. Their bills are made after the repair: until the instant of the request.
 * @param afterMs how long a wallet may be blocked
 */
export async function stopBlockedRentals(db: Database, afterMs: number): Promise<BlockedPod[]> {
  const { rows } = await db.raw<{ rows: BlockedPod[] }>(
    `with blocked as (
       select r.no, r.id, r.provider_code, r.pod_id
         from wallets w join rentals r on r.wallet_id = w.id and r.status = 'running'
        where w.metering_blocked_at < clock_ms() - :afterMs * interval '1 millisecond'
     ), asked as (
       insert into stop_requests (rental_no, requested_by, reason)
       select no, 'operator', 'metering was blocked' from blocked
       on conflict (rental_no) do nothing
     )
     select b.id as "rentalId", b.provider_code as "providerCode", b.pod_id as "podId"
       from blocked b left join pods p on p.provider_code = b.provider_code and p.pod_id = b.pod_id
      where b.pod_id is not null and p.gone_at is null`,
    { afterMs },
  );
  return rows;
}
