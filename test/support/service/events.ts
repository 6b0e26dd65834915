import type { Database } from '../../../adapters/postgres/database.js';
import { recordEvent } from '../../../adapters/postgres/events/outbox.js';
import { sequenceEvents } from '../../../adapters/postgres/events/sequence.js';
import type { EventType } from '../../../domain/events/events.js';
import type { UserId } from '../../../domain/ids.js';
import type { SignedIn, TestApi } from '../http/api.js';

/** Commits events of a user, one transaction each, and has them numbered. */
export async function happen(
  db: Database,
  userId: UserId,
  types: readonly EventType[],
  data: object = {},
): Promise<void> {
  for (const type of types) await recordEvent(db, { type, userId, entityId: userId, data: data as never });
  await sequenceEvents(db);
}

/** As many events, of one kind. */
export function times(count: number, type: EventType = 'ssh_key.added'): EventType[] {
  return Array.from({ length: count }, () => type);
}

/** Removes a user's events up to a number, as their age does. */
export async function prune(db: Database, userId: UserId, upTo: number): Promise<void> {
  await db('events').where({ user_id: userId }).where('seq', '<=', upTo).delete();
}

/** Signs a new user in whose feed is empty: their sign-in is forgotten. */
export async function newcomer({ db, signIn }: Pick<TestApi, 'db' | 'signIn'>): Promise<SignedIn> {
  const user = await signIn();
  await db('event_outbox').where({ user_id: user.user.id }).delete();
  return user;
}
