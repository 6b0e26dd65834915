import { listKeysOf } from '../../adapters/postgres/accounts/ssh-keys.js';
import { findRentalRequest } from '../../adapters/postgres/requests/opening-requests.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import type { ActivityDeps } from '../deps.js';

/** Returns the OpenSSH lines of the keys that open a rental's machine. */
export async function publicKeysOf({ db }: Pick<ActivityDeps, 'db'>, rental: RentalRow): Promise<string[]> {
  const stored = { userId: rental.user_id, sshKeyIds: rental.ssh_key_ids };
  return listKeysOf(db, stored, (await findRentalRequest(db, rental.id))?.sshPublicKeys);
}
