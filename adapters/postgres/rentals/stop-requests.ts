import type { Database, Transaction } from '../database.js';

/**
 * Asks for the end of a rental (decision 15, "Stopping a rental"). The request is a row of its own because a column of
 * the rental would wait for locks that metering holds. The first request wins; a request for a settled rental is not
 * kept.
 */
export async function insertStopRequest(
  db: Database | Transaction,
  rentalNo: number,
  requestedBy: 'user' | 'operator',
  reason: string | null = null,
): Promise<void> {
  await db.raw(
    `insert into stop_requests (rental_no, requested_by, reason)
     select no, :requestedBy, :reason::text from rentals where no = :rentalNo and settled_at is null
     on conflict (rental_no) do nothing`,
    { rentalNo, requestedBy, reason },
  );
}
