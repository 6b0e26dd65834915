import type { Database } from '../database.js';

/**
 * Reads how far the processor's list of events was read, and the database's clock. A cursor that lies ahead of the clock
 * says nothing of what is between them: it counts as being at the clock.
 */
export async function readEventCursor(db: Database): Promise<{ seenUntil: Date; now: Date }> {
  const { rows } = await db.raw<{ rows: { seenUntil: Date; now: Date }[] }>(
    `select least(seen_until, now) as "seenUntil", now from event_cursor, (select clock_ms() as now) clock`,
  );
  if (!rows[0]) throw new Error('the row of event_cursor is missing');
  return rows[0];
}

/**
 * Moves the cursor on, never back: two readers may end in any order. Only one that lies ahead of the clock comes back.
 * @param seenUntil by the processor's clock, which dates the events
 */
export async function moveEventCursor(db: Database, seenUntil: Date): Promise<void> {
  await db('event_cursor')
    .whereRaw('(seen_until < :seenUntil or seen_until > clock_ms())', { seenUntil })
    .update({ seen_until: seenUntil });
}
