import { requestLimits } from '../../../domain/requests/limits.js';
import type { UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';

/**
 * The name of one idempotent request: keys are per user and endpoint (decision 6, "Idempotent retries"). The endpoint
 * names the API key, if one asks: the code before knows three columns, and meets the same table.
 */
export interface KeyName {
  readonly userId: UserId;
  readonly endpoint: string;
  readonly key: string;
}

export interface KeyClaim {
  /** True for the request that made the row just now; every other one is a retry or a twin. */
  readonly fresh: boolean;
  /** The entity that the request makes. */
  readonly targetId: string;
  readonly sameBody: boolean;
  /** When the target was put in, by the database's clock. */
  readonly claimedAt: Date;
  readonly ageMs: number;
  readonly response: { readonly status: number; readonly body: unknown } | null;
}

interface Row {
  fresh: boolean;
  target_id: string;
  same_body: boolean;
  created_at: Date;
  age_ms: number;
  response_status: number | null;
  response_body: unknown;
}

/**
 * Commits the key before the work begins, or returns what stands under it. A key older than 24 hours counts as absent.
 * @param targetId the id that a fresh claim makes
 */
export async function claimIdempotencyKey(
  db: Database,
  name: KeyName,
  bodyHash: Buffer,
  targetId: string,
): Promise<KeyClaim> {
  const values = { ...name, bodyHash, targetId, keptMs: requestLimits.idempotencyKeptMs };
  const inserted = await db.raw<{ rows: Row[] }>(
    `insert into idempotency_keys as k (user_id, endpoint, key, body_hash, target_id)
     values (:userId, :endpoint, :key, :bodyHash, :targetId)
     on conflict (user_id, endpoint, key) do update
       set body_hash = excluded.body_hash, target_id = excluded.target_id, created_at = clock_ms(),
           response_status = null, response_body = null
       where k.created_at < clock_ms() - :keptMs * interval '1 millisecond'
     returning true as fresh, true as same_body, target_id, created_at, 0 as age_ms, response_status, response_body`,
    values,
  );
  if (inserted.rows[0]) return claimOf(inserted.rows[0]);
  const standing = await db.raw<{ rows: Row[] }>(
    `select false as fresh, body_hash = :bodyHash as same_body, target_id, created_at,
            epoch_ms(clock_ms()) - epoch_ms(created_at) as age_ms, response_status, response_body
     from idempotency_keys where user_id = :userId and endpoint = :endpoint and key = :key`,
    values,
  );
  if (!standing.rows[0]) throw new Error('an idempotency key that stood in the way of an insert is gone');
  return claimOf(standing.rows[0]);
}

/**
 * Finds what a request with this key has made, or was refused over, or is still to make.
 * @returns its id, under which there may be no row yet, or ever; undefined without such a request in the last 24 hours
 */
export async function findMadeUnderKey(db: Database, name: KeyName): Promise<string | undefined> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select coalesce(response_body #>> '{body,topupId}', response_body #>> '{body,id}',
                     response_body #>> '{refused,details,topupId}', target_id) as id
     from idempotency_keys
     where user_id = :userId and endpoint = :endpoint and key = :key
       and created_at >= clock_ms() - :keptMs * interval '1 millisecond'`,
    { ...name, keptMs: requestLimits.idempotencyKeptMs },
  );
  return rows[0]?.id;
}

/**
 * Puts a new target under a key whose old target can't happen any more (decision 6, "Idempotent retries"). Only one
 * caller succeeds.
 * @returns when the new target was put in; undefined when another request was faster, or an answer was recorded
 */
export async function renewIdempotencyKey(
  db: Database,
  name: KeyName,
  fromId: string,
  toId: string,
): Promise<Date | undefined> {
  const { rows } = await db.raw<{ rows: { created_at: Date }[] }>(
    `update idempotency_keys set target_id = :toId, created_at = clock_ms()
     where user_id = :userId and endpoint = :endpoint and key = :key
       and target_id = :fromId and response_status is null
     returning created_at`,
    { ...name, fromId, toId },
  );
  return rows[0]?.created_at;
}

/**
 * Records the final answer of a target, once. Never for a 5xx: the schema refuses it.
 * @returns the body that stands, with its fields in the database's order: of two requests that record at once, both get
 * that of the first. undefined when the key has another target by now
 */
export async function recordIdempotentResponse(
  db: Database,
  name: KeyName,
  targetId: string,
  response: { readonly status: number; readonly body: unknown },
): Promise<unknown> {
  const { rows } = await db.raw<{ rows: { body: unknown }[] }>(
    `update idempotency_keys
     set response_status = coalesce(response_status, :status), response_body = coalesce(response_body, :body)
     where user_id = :userId and endpoint = :endpoint and key = :key and target_id = :targetId
     returning response_body as body`,
    { ...name, targetId, status: response.status, body: JSON.stringify(response.body) },
  );
  return rows[0]?.body;
}

function claimOf(row: Row): KeyClaim {
  return {
    fresh: row.fresh,
    targetId: row.target_id,
    sameBody: row.same_body,
    claimedAt: row.created_at,
    ageMs: row.age_ms,
    response: row.response_status === null ? null : { status: row.response_status, body: row.response_body },
  };
}
