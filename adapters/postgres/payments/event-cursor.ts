import type { Database } from '../database.js';

/** Reads how far the processor's list of events was read, and the database's clock. */
export async function readEventCursor(db: Database): Promise<{ seenUntil: Date; now: Date }> {
  const row = await db('event_cursor').first('seen_until', db.raw('clock_ms() as now'));
  if (!row) throw new Error('the row of event_cursor is missing');
  return { seenUntil: row.seen_until, now: (row as unknown as { now: Date }).now };
}

/** Moves the cursor on, never back: two readers may end in any order. */
export async function moveEventCursor(db: Database, seenUntil: Date): Promise<void> {
  await db('event_cursor').where('seen_until', '<', seenUntil).update({ seen_until: seenUntil });
}
