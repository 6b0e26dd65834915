import { noteClosedAccount } from '../../adapters/closed-accounts-file.js';
import { erasePerson } from '../../adapters/postgres/accounts/sweeping.js';
import { findCustomerId } from '../../adapters/postgres/payments/payers.js';
import { takeLease } from '../../adapters/postgres/requests/leases.js';
import { sqlStateOf } from '../../adapters/postgres/sql-state.js';
import { MINUTE } from '../../domain/durations.js';
import type { UserId } from '../../domain/ids.js';
import type { ActivityDeps } from '../deps.js';
import type { Tell } from '../heartbeat.js';
import { tellOperators } from './tell-operators.js';

/** So long after its process has died an erasure keeps others from theirs. */
const LEASE_MS = MINUTE;

/** A statement or a transaction met its deadline: another try may meet it again. */
const tooLate = /^(57014|25P04)$/;
const WHY_SLOW =
  'The database took too long to erase its person, and half of it may be left: the closing tries on. See why its statements are slow.';

/**
 * Erases the person of an account, one account at a time over all workers: each reads the large tables. The processor's
 * customer goes first: a failure then leaves the number by which it is found. It may run again.
 * @param installationKey in base64
 * @returns false while another account is being erased: it is asked again, and holds nothing until then
 */
export async function eraseInTurn(
  deps: ActivityDeps,
  userId: UserId,
  installationKey: string,
  tell: Tell,
): Promise<boolean> {
  const { db, processor, settings } = deps;
  const lease = await takeLease(db, 'erasing', LEASE_MS);
  if (!lease) return false;
  try {
    const customerId = await findCustomerId(db, userId);
    if (settings.closedAccountsFile) await noteClosedAccount(settings.closedAccountsFile, userId);
    if (customerId !== null) await processor.deleteCustomer(customerId);
    await erasePerson(db, { userId, customerId }, installationKey, tell);
    return true;
  } catch (error) {
    if (tooLate.test(sqlStateOf(error) ?? '')) await tellOperators(deps, userId, 'erasing-slow', WHY_SLOW);
    throw error;
  } finally {
    await lease.release();
  }
}
