import { causeOf, type UserNoticeCause } from '../../../domain/causes.js';
import type { UserId } from '../../../domain/ids.js';
import type { ToldKind } from '../../../domain/notices/kinds.js';
import type { NoticeFacts } from '../../../domain/notices/notices.js';
import type { Database, Transaction } from '../database.js';

/** Something that a user is told without having asked. */
export type UserNotice = {
  readonly [K in ToldKind]: {
    readonly userId: UserId;
    readonly kind: K;
    /** Unique: it is told once, however often it is noted. */
    readonly cause: UserNoticeCause;
    readonly facts: NoticeFacts[K];
  };
}[ToldKind];

/**
 * Notes it in the transaction of what it tells (decision 103, "Notices by mail"): it is told when that commits, and only then.
 */
export async function noteForUser(db: Database | Transaction, notice: UserNotice): Promise<void> {
  await db('user_notices')
    .insert({
      user_id: notice.userId,
      kind: notice.kind,
      cause: causeOf(notice.cause),
      facts: { ...notice.facts },
    })
    .onConflict('cause')
    .ignore();
}
