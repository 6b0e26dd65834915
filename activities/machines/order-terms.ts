import { listKeysOf } from '../../adapters/postgres/accounts/ssh-keys.js';
import { mustTellUse } from '../../adapters/postgres/rentals/idle-guards.js';
import { paidUntil } from '../../adapters/postgres/rentals/paid-until.js';
import { findRentalRequest } from '../../adapters/postgres/requests/opening-requests.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import type { ActivityDeps } from '../deps.js';

/** What an order for a rental that has no machine yet asks for, of whatever offer. */
export async function orderTermsOf({ db }: Pick<ActivityDeps, 'db'>, rental: RentalRow) {
  return {
    templateId: rental.template_id,
    telemetry: await mustTellUse(db, rental),
    publicKeys: await publicKeysOf(db, rental),
    maxPricePerHourCents: rental.price_per_hour_cents,
    // It is provisioning, so no meter counts it yet.
    endBy: await paidUntil(db, rental.wallet_id, rental.price_per_hour_cents),
  };
}

/** The OpenSSH lines of the keys that open its machine. */
async function publicKeysOf(db: ActivityDeps['db'], rental: RentalRow): Promise<string[]> {
  const stored = { userId: rental.user_id, sshKeyIds: rental.ssh_key_ids };
  return listKeysOf(db, stored, (await findRentalRequest(db, rental.id))?.sshPublicKeys);
}
