import type { RentalId } from '../../domain/ids.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import type { PodAddress } from './rentals.js';

/** Records where a machine answered, for the step that begins its billing. Of several answers the last one counts. */
export async function recordAnswer(db: Database, rentalId: RentalId, address: PodAddress): Promise<void> {
  await db.raw(
    `insert into answered_machines (rental_no, host, port, username, host_key_fingerprint)
     select no, :host, :port, :username, :fingerprint from rentals where id = :rentalId and status = 'provisioning'
     on conflict (rental_no) do update
       set host = excluded.host, port = excluded.port, username = excluded.username,
           host_key_fingerprint = excluded.host_key_fingerprint, answered_at = clock_ms()`,
    {
      rentalId,
      host: address.host,
      port: address.port,
      username: address.username,
      fingerprint: address.hostKeyFingerprint,
    },
  );
}

/** Claims the answer, once; afterwards the rental's own row has it. */
export async function claimAnswer(trx: Transaction, rentalNo: number): Promise<PodAddress | undefined> {
  const [row] = await trx('answered_machines').where({ rental_no: rentalNo }).delete().returning('*');
  return (
    row && {
      host: row.host,
      port: row.port,
      username: row.username,
      hostKeyFingerprint: row.host_key_fingerprint,
    }
  );
}
