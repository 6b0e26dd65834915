import type { Database } from '../../adapters/postgres/database.js';
import { insertClosing } from '../../adapters/postgres/accounts/closings.js';
import { shutOut } from '../../adapters/postgres/accounts/shutting-out.js';
import { beginClosedAccounts, readClosedAccounts } from '../../adapters/closed-accounts-file.js';
import { isClosedAddress } from '../../domain/accounts/closing.js';
import type { UserId } from '../../domain/ids.js';
import { stopSpending } from '../../money/closing/stop-spending.js';
import type { ActivityDeps } from '../deps.js';
import type { Tell } from '../heartbeat.js';
import { FailedItems } from '../reconcile/failed-items.js';
import { tellOperators } from './tell-operators.js';

/** How many numbers are looked up at once. */
const BATCH = 1_000;

const WHY_AGAIN = 'A restored database brought it back, and it could not be shut out: its closing erases it.';

/**
 * Shuts out those again whom a restored database brought back although they were gone (decision 183, "What closing erases"),
 * before anybody is served. Their closings then erase them, one after the other, while others are served, and go through
 * their steps: what the database has lost of their money, the processor still knows. One that fails keeps no other from it:
 * operators are told. It may run again.
 * @returns how many were shut out
 * @throws Error where the file is missing or can't be read, or INSTALLATION_KEY is missing
 */
export async function closeAgain(deps: ActivityDeps, tell: Tell): Promise<number> {
  const { db, settings, log } = deps;
  const { closedAccountsFile: file } = settings;
  const numbers = file ? await readClosedAccounts(file) : [];
  const failed = new FailedItems(log);
  let count = 0;
  for (let from = 0; from < numbers.length; from += BATCH) {
    for (const userId of await listBroughtBack(db, numbers.slice(from, from + BATCH))) {
      if (!settings.installationKey)
        throw new Error('Set INSTALLATION_KEY: closed accounts are to be erased again.');
      if (await failed.unlessItFails(userId, () => shutOutAgain(deps, userId))) count += 1;
      else await tellOperators(deps, userId, 'erasing-again', WHY_AGAIN);
      tell({ shutOut: count });
    }
    tell({ lookedUp: from });
  }
  if (count > 0)
    log.warn(
      { count },
      'closed accounts that a restored database brought back are shut out, and erased again',
    );
  return count;
}

/** The accounts among these that have their person. */
async function listBroughtBack(db: Database, userIds: readonly UserId[]): Promise<UserId[]> {
  const users = await db('users').whereIn('id', userIds).orderBy('id').select('id', 'email');
  return users.filter(({ email }) => !isClosedAddress(email)).map(({ id }) => id);
}

async function shutOutAgain({ db }: ActivityDeps, userId: UserId): Promise<true> {
  await insertClosing(db, userId, 'restored');
  await stopSpending(db, userId);
  await shutOut(db, userId);
  return true;
}

/**
 * Makes the file of closed accounts before the first of them, so that a file that is missing later is one that was lost.
 * Where it can't be written, only closings wait.
 */
export async function prepareClosedAccounts({
  db,
  log,
  settings: { closedAccountsFile: file },
}: Pick<ActivityDeps, 'db' | 'log' | 'settings'>): Promise<void> {
  if (!file || (await db('account_closings').whereNotNull('erased_at').first('user_id'))) return;
  await beginClosedAccounts(file).catch((error: unknown) => {
    log.error({ err: error }, 'CLOSED_ACCOUNTS_FILE can’t be written: no account is erased until it can');
  });
}
