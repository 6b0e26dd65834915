import type { UserId } from '../../../domain/ids.js';
import type { Transaction } from '../database.js';
import type { UserRow } from '../rows/tables.js';
import { tieAccount, tieToMarks } from './account-ties.js';

/** What an account is made with. */
export interface NewAccount {
  readonly id: UserId;
  readonly autoTopupDailyCapCents: number | null;
  /** The address that a new account is made from; undefined where it tells nobody apart. */
  readonly madeFrom: string | undefined;
  /** In base64: recognizes the mailboxes of closed accounts. */
  readonly installationKey: string;
}

/**
 * Finds the user with this e-mail address, or makes one with an empty wallet. Until the transaction ends the user is not
 * erased, and then with all that it has written: an address that was being erased meanwhile makes a new user.
 * @param email in lower case
 * @param fresh the id of a new user, and what their auto-topup may charge in a day for good (decision 79, "Charge
 *   marks")
 */
export async function findOrInsertUser(
  trx: Transaction,
  email: string,
  fresh: NewAccount,
): Promise<{ user: UserRow; created: boolean }> {
  for (;;) {
    const created = await insertNew(trx, email, fresh);
    const user = created ?? (await trx('users').where({ email }).forKeyShare().first());
    // Their account was erased between the two statements, and the address is free.
    if (!user) continue;
    await tieToMarks(trx, user.id, fresh.installationKey);
    return { user, created: created !== undefined };
  }
}

async function insertNew(trx: Transaction, email: string, fresh: NewAccount): Promise<UserRow | undefined> {
  const [created] = await trx('users')
    .insert({ id: fresh.id, email, auto_topup_daily_cap_cents: fresh.autoTopupDailyCapCents })
    .onConflict('email')
    .ignore()
    .returning('*');
  if (!created) return undefined;
  await trx('wallets').insert({ user_id: created.id });
  if (fresh.madeFrom !== undefined) await tieAccount(trx, created.id, 'address', fresh.madeFrom);
  return created;
}
