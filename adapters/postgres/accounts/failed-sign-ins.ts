import type { UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';
import type { FailedSignInsRow } from '../rows/tables.js';

/**
 * Counts a failed sign-in, by the user whose address it named and by the hour. It does nothing where there is no such
 * user.
 * @param email in lower case
 */
export async function countFailedSignIn(db: Database, email: string): Promise<void> {
  await db.raw(
    `insert into failed_sign_ins as counted (user_id, hour, failed)
     select id, date_trunc('hour', clock_ms(), 'UTC'), 1 from users where email = :email
     on conflict (user_id, hour) do update set failed = counted.failed + 1`,
    { email },
  );
}

/**
 * Lists a user's failed sign-ins by the hour, newest first.
 * @param span the hours that begin in it: from its first instant on, and before its second one
 */
export async function listFailedSignIns(
  db: Database,
  userId: UserId,
  { from, before }: { readonly from: Date | undefined; readonly before: Date | undefined },
): Promise<FailedSignInsRow[]> {
  const query = db('failed_sign_ins').where({ user_id: userId }).orderBy('hour', 'desc');
  if (from) void query.andWhere('hour', '>=', from);
  if (before) void query.andWhere('hour', '<', before);
  return query;
}
