import { findUser } from '../../adapters/postgres/accounts/user-lookup.js';
import type { Database } from '../../adapters/postgres/database.js';
import type { UserRow } from '../../adapters/postgres/rows/tables.js';
import { isId, type UserId } from '../../domain/ids.js';

/** The id of the user that is meant. An id is taken as it is: the action by it says whether there is such a user. */
export async function userIdOf(db: Database, who: string): Promise<UserId> {
  return isId('usr', who) ? who : (await getUser(db, who)).id;
}

/** Finds the user. @throws Error when there is none, with a hint how to look */
export async function getUser(db: Database, who: string): Promise<UserRow> {
  const user = await findUser(db, who);
  if (user) return user;
  throw new Error(`There is no user ${who}: use an email address or an id such as usr_01J….`);
}
