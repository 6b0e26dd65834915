import { findAttempt, moveAttempt, type FailedBy } from '../../adapters/postgres/machines/attempts.js';
import { recordBadMachine } from '../../adapters/postgres/machines/proofs.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { tellMachineFound } from './rentals.js';
import type { AllocationAttemptRow, RentalRow } from '../../adapters/postgres/rows/tables.js';

/**
 * Gives the pod of an open attempt to the rental, if neither was given up meanwhile (decision 22, "Machines of
 * nobody").
 * @returns whether the pod is the rental's now
 */
export async function adoptPod(
  db: Database,
  rental: RentalRow,
  attempt: AllocationAttemptRow,
  podId: string,
): Promise<boolean> {
  return db.transaction(async (trx) => {
    if (!(await takeTerms(trx, rental, attempt, podId))) return false;
    if (await moveAttempt(trx, attempt.id, 'open', 'adopted', { podId })) {
      await tellMachineFound(trx, rental, attempt.provider_code);
      return true;
    }
    await trx('rentals').where({ no: rental.no }).update({ pod_id: null });
    return false;
  });
}

/** Lets a rental wait for the pod of another attempt; the agreed price stays. */
export async function replaceTag(
  db: Database,
  rental: RentalRow,
  attempt: AllocationAttemptRow,
): Promise<void> {
  await takeTerms(db, rental, attempt, null);
}

/**
 * Gives up the machine of a rental that was not billed yet: its attempt has failed, and the rental waits for another one.
 * What is wrong with it is kept. Nothing happens to a rental that has gone on meanwhile.
 */
export async function leaveMachine(
  db: Database,
  finding: Parameters<typeof recordBadMachine>[1],
  why: { readonly error: string; readonly failedBy: FailedBy },
): Promise<void> {
  const { rentalId, tag } = finding;
  await db.transaction(async (trx) => {
    const [left] = await trx('rentals')
      .where({ id: rentalId, tag, status: 'provisioning' })
      .whereNotNull('pod_id')
      .update({ pod_id: null })
      .returning('no');
    if (!left) return;
    // It may have answered an attempt that was overtaken.
    await trx('answered_machines').where({ rental_no: left.no }).delete();
    await recordBadMachine(trx, finding);
    const attempt = await findAttempt(trx, tag);
    if (attempt) await moveAttempt(trx, attempt.id, 'adopted', 'condemned', why);
  });
}

/**
 * Lets a rental without a machine have that of an attempt: one of another offer may be another model of its family, at
 * another place in its region.
 * @returns whether it waited for one
 */
async function takeTerms(
  db: Database | Transaction,
  { no }: RentalRow,
  { tag, provider_code: providerCode, listing_id: listingId }: AllocationAttemptRow,
  podId: string | null,
): Promise<boolean> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `update rentals r
        set tag = :tag, provider_code = :providerCode, pod_id = :podId, listing_id = coalesce(l.id, r.listing_id),
            model = coalesce(l.model, r.model), region = coalesce(l.region, r.region),
            interconnect = coalesce(l.interconnect, r.interconnect)
       from (values (1)) one left join listings l on l.id = :listingId
      where r.no = :no and r.status = 'provisioning' and r.pod_id is null`,
    { no, tag, providerCode, listingId, podId },
  );
  return rowCount === 1;
}
