import { moveAttempt } from '../../adapters/postgres/machines/attempts.js';
import type { Database } from '../../adapters/postgres/database.js';
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
    const waiting = await trx('rentals')
      .where({ no: rental.no, status: 'provisioning' })
      .whereNull('pod_id')
      .update({ pod_id: podId, tag: attempt.tag, provider_code: attempt.provider_code });
    if (waiting === 0) return false;
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
  await db('rentals')
    .where({ no: rental.no, status: 'provisioning' })
    .whereNull('pod_id')
    .update({ tag: attempt.tag, provider_code: attempt.provider_code, listing_id: attempt.listing_id });
}
