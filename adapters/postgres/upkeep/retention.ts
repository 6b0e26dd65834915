import type { Kept } from '../../../domain/operations/retention.js';
import { readClock } from '../clock.js';
import type { Database } from '../database.js';

/** The rows that one statement removes: it locks unwanted rows for a fraction of a second. */
const BATCH_ROWS = 2_000;

export interface Pruning {
  /** Rows of one statement; default: 2,000. */
  readonly batchRows?: number | undefined;
  /** The most statements for one table in a round; the rest waits for the next. Default: 20. */
  readonly batches?: number;
  /** Tells whether the round's time is up, after each statement. */
  readonly isOver?: () => boolean;
  /** Called between two statements, so that a long round is seen to make progress. */
  readonly tell?: (done: { readonly table: string; readonly removed: number }) => void;
}

/**
 * Removes, or cuts, the rows of one table that have served their time, in separate statements that each lock few rows
 * for a moment. A row that is changed meanwhile has another place, and is looked at anew by the next round.
 * @returns how many rows
 */
export async function prune(db: Database, kept: Kept, pruning: Pruning = {}): Promise<number> {
  const { batchRows = BATCH_ROWS, batches = 20, isOver, tell } = pruning;
  // The instant is a parameter: an index could not compare with a clock in the statement.
  const until = new Date((await readClock(db)).getTime() - kept.keptMs);
  let removed = 0;
  for (let batch = 0; batch < batches; batch += 1) {
    const { rowCount } = await db.raw<{ rowCount: number }>(statementOf(kept), {
      until: kept.inEpochMs === true ? until.getTime() : until,
      batchRows,
    });
    removed += rowCount;
    tell?.({ table: kept.table, removed });
    if (rowCount < batchRows || isOver?.() === true) break;
  }
  return removed;
}

/**
 * Names come from domain/operations/retention.ts alone, never from outside. The oldest rows go first, by the index of
 * `since`.
 */
function statementOf({ table, since, inEpochMs, only, cut }: Kept): string {
  const old = `select t.ctid from ${table} t
    where t.${since} < :until::${inEpochMs === true ? 'bigint' : 'timestamptz'}${only === undefined ? '' : ` and ${only}`}
    order by t.${since} limit :batchRows`;
  const at = `where ctid = any (array(${old}))`;
  return cut === undefined ? `delete from ${table} ${at}` : `update ${table} set ${cut} = null ${at}`;
}
