import { createHash } from 'node:crypto';
import type { Database } from '../database.js';
import { storable } from '../../storable.js';
import type { OddEventRow } from '../rows/tables.js';

/** The most characters of a body that are kept. */
const KEPT_CHARS = 65_536;

/**
 * Keeps an event that the payment processor signed and that nobody can read. A repeated delivery of the same body is
 * counted.
 * @param reason for operators
 */
export async function insertOddEvent(
  db: Database,
  rawBody: Buffer,
  reason: string,
): Promise<{ readonly id: number; readonly deliveries: number }> {
  const { rows } = await db.raw<{ rows: { id: number; deliveries: number }[] }>(
    `insert into odd_events as known (body_hash, body, reason) values (:hash, :body, :reason)
     on conflict (body_hash) do update set deliveries = known.deliveries + 1, last_received_at = clock_ms()
     returning id, deliveries`,
    {
      hash: createHash('sha256').update(rawBody).digest(),
      body: storable(rawBody.toString('utf8')).slice(0, KEPT_CHARS),
      reason,
    },
  );
  const row = rows[0];
  if (!row) throw new Error('an odd event was not kept');
  return row;
}

/** Lists the odd events, the last one first. */
export async function listOddEvents(db: Database, limit: number): Promise<OddEventRow[]> {
  return db('odd_events').orderBy('last_received_at', 'desc').limit(limit);
}
