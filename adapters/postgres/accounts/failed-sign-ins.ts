import type { Database } from '../database.js';

/**
 * Counts a failed sign-in, by the user whose address it named and by the hour (kept for 90 days). It does nothing where
 * there is no such user.
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
