import { noteClosedAccount } from '../../adapters/closed-accounts-file.js';
import { erasePerson } from '../../adapters/postgres/accounts/sweeping.js';
import { takeLease } from '../../adapters/postgres/requests/leases.js';
import type { UserId } from '../../domain/ids.js';
import type { ActivityDeps } from '../deps.js';
import type { Tell } from '../heartbeat.js';

/** So long after its process has died an erasure keeps others from theirs. */
const LEASE_MS = 60_000;

/**
 * Erases the person of an account, one account at a time over all workers: each reads the large tables. The processor's
 * customer goes first: a failure then leaves the number by which it is found. It may run again.
 * @param installationKey in base64
 * @returns false while another account is being erased: it is asked again, and holds nothing until then
 */
export async function eraseInTurn(
  { db, processor, settings: { closedAccountsFile } }: ActivityDeps,
  userId: UserId,
  installationKey: string,
  tell: Tell,
): Promise<boolean> {
  const lease = await takeLease(db, 'erasing', LEASE_MS);
  if (!lease) return false;
  try {
    const user = await db('users').where({ id: userId }).first('processor_customer_id');
    const customerId = user?.processor_customer_id ?? null;
    if (closedAccountsFile) await noteClosedAccount(closedAccountsFile, userId);
    if (customerId !== null && processor.enabled) await processor.deleteCustomer(customerId);
    await erasePerson(db, { userId, customerId }, installationKey, tell);
    return true;
  } finally {
    await lease.release();
  }
}
