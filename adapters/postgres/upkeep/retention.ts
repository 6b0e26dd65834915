import type { Kept } from '../../../domain/operations/retention.js';
import { readClock } from '../clock.js';
import type { Database } from '../database.js';

/** So many rows go in one statement: a fraction of a second of locks, of rows that nobody wants any more. */
const BATCH_ROWS = 2_000;

export interface Pruning {
  /** How many rows one statement takes; 2,000 unless told. */
  readonly batchRows?: number;
  /** How many statements one table may cost in a round; the rest waits for the next. 20 unless told. */
  readonly batches?: number;
  /** Called between two statements, so that a long round is seen to go on. */
  readonly tell?: (done: { readonly table: string; readonly removed: number }) => void;
}

/**
 * Removes, or cuts, what has served its time in one table, in statements of their own that each hold few rows for a
 * moment. A row that is changed meanwhile has another place, and is looked at anew by the next round.
 * @returns how many rows
 */
export async function prune(db: Database, kept: Kept, pruning: Pruning = {}): Promise<number> {
  const { batchRows = BATCH_ROWS, batches = 20, tell } = pruning;
  // Told as a value: a clock in the statement could not be compared by an index.
  const until = new Date((await readClock(db)).getTime() - kept.keptMs);
  let removed = 0;
  for (let batch = 0; batch < batches; batch += 1) {
    const { rowCount } = await db.raw<{ rowCount: number }>(statementOf(kept), {
      until: kept.inEpochMs === true ? until.getTime() : until,
      batchRows,
    });
    removed += rowCount;
    tell?.({ table: kept.table, removed });
    if (rowCount < batchRows) break;
  }
  return removed;
}

/** Names come from domain/operations/retention.ts alone, never from outside. The oldest go first, by the index of `since`. */
function statementOf({ table, since, inEpochMs, only, cut }: Kept): string {
  const old = `select t.ctid from ${table} t
    where t.${since} < :until::${inEpochMs === true ? 'bigint' : 'timestamptz'}${only === undefined ? '' : ` and ${only}`}
    order by t.${since} limit :batchRows`;
  const at = `where ctid = any (array(${old}))`;
  return cut === undefined ? `delete from ${table} ${at}` : `update ${table} set ${cut} = null ${at}`;
}
