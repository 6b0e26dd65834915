import type { Database } from '../../../adapters/postgres/database.js';
import { eventData } from '../../../api/events/data.js';
import { definitionOf, exampleId, type JsonSchema } from '../../../api/http/openapi/json-schema.js';
import { recordEvent } from '../../../adapters/postgres/events/outbox.js';
import { sequenceEvents } from '../../../adapters/postgres/events/sequence.js';
import type { EventData, EventType } from '../../../domain/events/events.js';
import type { UserId } from '../../../domain/ids.js';
import type { SignedIn, TestApi } from '../http/api.js';

/**
 * Commits events of a user, one transaction each, and has them numbered.
 * @param texts what fields of this name hold; all others hold what the description allows
 */
export async function happen(
  db: Database,
  userId: UserId,
  types: readonly EventType[],
  texts: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const type of types) {
    const data = sampleOf(eventData[type], texts) as EventData[EventType];
    await recordEvent(db, { type, userId, entityId: userId, data });
  }
  await sequenceEvents(db);
}

interface Parts {
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

/** Something that a schema of an event's data allows. */
function sampleOf(schema: JsonSchema, texts: Readonly<Record<string, string>>): unknown {
  const parts = (definitionOf(schema)?.schema ?? schema) as Parts;
  if (parts.anyOf) return sampleOf(parts.anyOf[0]!, texts);
  if (parts.enum) return parts.enum[0];
  if (parts.properties) {
    const fields = Object.entries(parts.properties);
    return Object.fromEntries(fields.map(([name, field]) => [name, texts[name] ?? sampleOf(field, texts)]));
  }
  return scalarOf(parts);
}

function scalarOf({ type, pattern }: Parts): unknown {
  if (type === 'array') return [];
  if (type === 'integer') return 7;
  if (type !== 'string') return null;
  if (pattern?.startsWith('^') === true) return exampleId(pattern.slice(1, 4) as 'chg');
  return pattern === undefined ? 'a text' : '2026-11-01T09:31:07.000Z';
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
