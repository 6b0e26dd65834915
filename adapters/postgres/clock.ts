import { MINUTE } from '../../domain/durations.js';
import type { Database, Transaction } from './database.js';

/**
 * Reads the database's clock. It times everything that more than one process looks at (decision 7, "Times and
 * cursors").
 */
export async function readClock(db: Database | Transaction): Promise<Date> {
  const { rows } = await db.raw<{ rows: { now: Date }[] }>('select clock_ms() as now');
  const row = rows[0];
  if (!row) throw new Error('the database did not tell its time');
  return row.now;
}

/** Returns how long ago an instant of a row was by the database's clock, in milliseconds; below 0: it lies ahead. */
export async function msSince(db: Database | Transaction, at: Date): Promise<number> {
  return (await readClock(db)).getTime() - at.getTime();
}

/** By how much a clock may be set back and still tell how old an instant is, in milliseconds. */
const STEP_MS = MINUTE;

/**
 * Tells whether an instant of a row is longer ago than so many milliseconds. One that lies ahead is of a clock that was set
 * back since: nobody knows how long ago that was (decision 195, "Instants ahead").
 */
export async function isOlder(db: Database | Transaction, at: Date, thanMs: number): Promise<boolean> {
  const ms = await msSince(db, at);
  return ms > thanMs || ms < -STEP_MS;
}

/**
 * SQL of the same; null where there is no instant.
 * @param at SQL of the instant
 * @param thanMs SQL of a number
 */
export function isOlderSql(at: string, thanMs: number | string): string {
  return `(${at} not between (select clock_ms()) - ${thanMs} * interval '1 millisecond'
                 and (select clock_ms()) + ${STEP_MS} * interval '1 millisecond')`;
}

/** SQL that holds for an instant that does not lie ahead. */
export function isReachedSql(at: string): string {
  return `${at} <= (select clock_ms()) + ${STEP_MS} * interval '1 millisecond'`;
}

/** SQL of an instant, or of now where it lies ahead. */
export function notAheadSql(at: string): string {
  return `case when ${at} > clock_ms() then clock_ms() else ${at} end`;
}
