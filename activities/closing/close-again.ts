import { insertClosing } from '../../adapters/postgres/accounts/closings.js';
import { eraseAccount } from '../../adapters/postgres/accounts/erasing.js';
import { sweepTables } from '../../adapters/postgres/accounts/sweeping.js';
import { readClosedAccounts } from '../../adapters/closed-accounts-file.js';
import { isClosedAddress } from '../../domain/accounts/closing.js';
import type { ActivityDeps } from '../deps.js';
import type { Tell } from '../heartbeat.js';

/**
 * Erases those again whom a restored database brought back although they were gone (decision 181, "What closing erases"),
 * before anybody is served. Their closing then goes through its steps: what the database has lost of its money, the
 * processor still knows. It may run again.
 * @returns how many were erased
 * @throws Error where the file can't be read, or INSTALLATION_KEY is missing
 */
export async function closeAgain({ db, settings, log }: ActivityDeps, tell: Tell): Promise<number> {
  const { closedAccountsFile: file, installationKey = '' } = settings;
  let count = 0;
  for (const userId of file ? readClosedAccounts(file) : []) {
    const user = await db('users').where({ id: userId }).first('email');
    if (!user || isClosedAddress(user.email)) continue;
    await insertClosing(db, userId, 'restored');
    await sweepTables(db, userId, tell);
    await eraseAccount(db, userId, installationKey);
    count += 1;
    tell({ erasedAgain: count });
  }
  if (count > 0)
    log.warn({ count }, 'closed accounts that a restored database brought back were erased again');
  return count;
}
