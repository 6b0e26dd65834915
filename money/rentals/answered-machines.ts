import type { RentalId } from '../../domain/ids.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { recordAttemptAnswered } from '../../adapters/postgres/machines/attempts.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import { noAddress, type ReadyMachine } from './rentals.js';

/**
 * Records where a machine answered, for the step that begins its billing. Of several answers the last one counts, and
 * the first one is told. The rental's row is locked for it: an attempt that was overtaken finds it running, or at another
 * machine, and tells nothing.
 * @param rental the tag is that of the machine that answered
 */
export async function recordAnswer(
  db: Database,
  { rentalId, tag }: { readonly rentalId: RentalId; readonly tag: string },
  { address, readyBy }: ReadyMachine,
): Promise<void> {
  await db.transaction(async (trx) => {
    const rental = await trx('rentals')
      .where({ id: rentalId, tag, status: 'provisioning' })
      .whereNotNull('pod_id')
      .forShare()
      .first('no', 'user_id');
    if (!rental) return;
    await recordAttemptAnswered(trx, rentalId);
    const { hostKeyFingerprint, ...reached } = address ?? noAddress;
    const answer = { ...reached, host_key_fingerprint: hostKeyFingerprint, ready_by: readyBy };
    const first = await trx('answered_machines')
      .insert({ rental_no: rental.no, ...answer })
      .onConflict('rental_no')
      .ignore()
      .returning('rental_no');
    if (first.length === 0) {
      await trx('answered_machines')
        .where({ rental_no: rental.no })
        .update({ ...answer, answered_at: trx.raw('clock_ms()') });
      return;
    }
    if (!address) return;
    await recordEvent(trx, {
      type: 'rental.ssh_answered',
      userId: rental.user_id,
      entityId: rentalId,
      data: { ...address },
    });
  });
}

/** Claims the answer, once; afterwards the rental's own row has it. */
export async function claimAnswer(trx: Transaction, rentalNo: number): Promise<ReadyMachine | undefined> {
  const [row] = await trx('answered_machines').where({ rental_no: rentalNo }).delete().returning('*');
  if (!row) return undefined;
  const { host, port, username, host_key_fingerprint: hostKeyFingerprint } = row;
  const hasAddress = host !== null && port !== null && username !== null;
  return {
    address: hasAddress ? { host, port, username, hostKeyFingerprint } : null,
    // Whoever wrote it before there was anything else knew SSH alone.
    readyBy: row.ready_by ?? 'ssh',
  };
}
