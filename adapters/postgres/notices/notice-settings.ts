import type { UserId } from '../../../domain/ids.js';
import type { NoticeKind, OptionalKind } from '../../../domain/notices/kinds.js';
import type { Database, Transaction } from '../database.js';
import { lockBy } from '../locks.js';

/** The kinds of notices that a user has switched off. */
export async function listSwitchedOff(
  db: Database | Transaction,
  userId: UserId,
): Promise<ReadonlySet<NoticeKind>> {
  const rows = await db('notice_settings').where({ user_id: userId }).select('kind');
  return new Set(rows.map(({ kind }) => kind));
}

/**
 * Switches kinds of notices on or off. Two changes of one user at once come one after the other, so that the answer and
 * the audit trail tell what each of them did.
 * @returns what has changed: nothing where it was so already
 */
export async function switchNotices(
  trx: Transaction,
  userId: UserId,
  wanted: Readonly<Partial<Record<OptionalKind, boolean>>>,
): Promise<Readonly<Partial<Record<OptionalKind, boolean>>>> {
  await lockBy(trx, 'noticeSettingsOfUser', userId);
  const off = await listSwitchedOff(trx, userId);
  const changes = (Object.entries(wanted) as [OptionalKind, boolean][]).filter(
    ([kind, on]) => on === off.has(kind),
  );
  for (const [kind, on] of changes) {
    if (on) await trx('notice_settings').where({ user_id: userId, kind }).delete();
    else await trx('notice_settings').insert({ user_id: userId, kind });
  }
  return Object.fromEntries(changes);
}
