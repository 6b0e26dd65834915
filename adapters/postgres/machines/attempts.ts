import type { ListingId, RentalId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import type { AllocationAttemptRow } from '../rows/tables.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';

/** Who is to blame for an attempt that was given up: the upstream did not deliver, or we gave it up. */
export type FailedBy = NonNullable<AllocationAttemptRow['failed_by']>;

export interface NewAttempt {
  readonly rentalId: RentalId;
  readonly deployment: string;
  readonly providerCode: string;
  readonly listingId: ListingId;
  readonly offerId: string;
  readonly pricePerHourCents: number;
  /** When the upstream itself ends the pod, where it can. */
  readonly endBy: Date | null;
  /** The time within which the machine must answer, from now, in milliseconds. */
  readonly deadlineMs: number;
  /** In how many milliseconds its turn is expected; absent: its upstream is asked at once. */
  readonly launchAfterMs?: number;
}

/**
 * Records that an upstream is about to be asked for a pod, under a tag that is never used again (decision 21, "Lost
 * upstream answers"). Call it outside of the transaction that opens the rental: it must be committed before the call of
 * the upstream.
 */
export async function insertAttempt(db: Database, attempt: NewAttempt): Promise<AllocationAttemptRow> {
  const { rows } = await db.raw<{ rows: AllocationAttemptRow[] }>(
    `insert into allocation_attempts
       (rental_id, attempt, provider_code, listing_id, offer_id, tag, price_per_hour_cents, end_by,
        deadline_ms, launch_at, available_until)
     select :rentalId, n, :providerCode, :listingId, :offerId, :deployment || '-' || :rentalId || '-' || n, :price::int,
            :endBy::timestamptz, :deadlineMs::int,
            clock_ms() + :launchAfterMs::int * interval '1 millisecond',
            (select available_until from listings where id = :listingId)
       from (select coalesce(max(attempt), 0) + 1 as n from allocation_attempts where rental_id = :rentalId) next
     returning *`,
    { ...attempt, price: attempt.pricePerHourCents, launchAfterMs: attempt.launchAfterMs ?? null },
  );
  const row = rows[0];
  if (!row) throw new Error('inserting an allocation attempt answered no row');
  return row;
}

/**
 * Moves an attempt from one state to another, if it is still in the first: a pod can't be both adopted and condemned
 * (decision 22, "Machines of nobody").
 * @returns whether it was moved
 */
export async function moveAttempt(
  db: Database | Transaction,
  id: number,
  from: AllocationAttemptRow['state'],
  to: AllocationAttemptRow['state'],
  facts: { podId?: string; error?: string; failedBy?: FailedBy } = {},
): Promise<boolean> {
  const moved = await db('allocation_attempts')
    .where({ id, state: from })
    .update({
      state: to,
      changed_at: db.raw('clock_ms()'),
      ...(to === 'condemned' || to === 'failed'
        ? { given_up_at: db.raw('coalesce(given_up_at, clock_ms())') }
        : {}),
      ...(facts.podId === undefined ? {} : { pod_id: facts.podId }),
      ...(facts.error === undefined ? {} : { error: facts.error.slice(0, 500) }),
      ...(facts.failedBy === undefined ? {} : { failed_by: facts.failedBy }),
    });
  return moved === 1;
}

/** Records the pod of an attempt as soon as the upstream has named it, before any other decision. */
export async function recordAttemptPod(db: Database, id: number, podId: string): Promise<void> {
  await db('allocation_attempts').where({ id }).update({ pod_id: podId });
}

/** Records, once, that the machine of a rental's attempt was seen to answer: its phase `checking` begins then. */
export async function recordAttemptAnswered(db: Transaction, rentalId: RentalId): Promise<void> {
  await db.raw(
    `update allocation_attempts a set answered_at = clock_ms()
       from rentals r
      where r.id = :rentalId and r.status = 'provisioning' and a.tag = r.tag and a.answered_at is null`,
    { rentalId },
  );
}

/**
 * Reads by when a rental must end, because the contract of its machine ends at the upstream; null when it has no end.
 * @param tag the rental's
 */
export async function readLatestEnd(db: Database | Transaction, tag: string): Promise<Date | null> {
  const row = await db('allocation_attempts').where({ tag }).first('available_until');
  const until = row?.available_until?.getTime();
  return until === undefined ? null : new Date(until - rentalLimits.contractMarginMs);
}

/** Finds the attempt of a tag; undefined for a machine of which there is no record. */
export async function findAttempt(
  db: Database | Transaction,
  tag: string,
): Promise<AllocationAttemptRow | undefined> {
  return db('allocation_attempts').where({ tag }).first();
}

export async function listAttempts(
  db: Database | Transaction,
  rentalId: RentalId,
): Promise<AllocationAttemptRow[]> {
  return db('allocation_attempts').where({ rental_id: rentalId }).orderBy('attempt');
}

/** The upstream that is asked for the machine of a rental by now; undefined: none is, or the next one waits for its turn. */
export async function findOrderedAt(db: Database, rentalId: RentalId): Promise<string | undefined> {
  const row = await db('allocation_attempts')
    .where({ rental_id: rentalId, state: 'open' })
    .whereRaw('(launch_at is null or asked_at is not null)')
    .first('provider_code');
  return row?.provider_code;
}
