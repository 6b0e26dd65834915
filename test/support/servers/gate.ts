import type { Database, Transaction } from '../../../adapters/postgres/database.js';

/** An advisory lock that nobody else takes. */
const LOCK = 7_461_003;

/** Which transactions stand still: those that write such a row, there or at their commit. */
interface Standing {
  readonly at: 'write' | 'commit';
  readonly of: 'insert' | 'update';
  readonly table: string;
  /** A condition of the trigger; default: any row. */
  readonly when?: string;
}

/** Stops transactions until it is opened, whatever became of the process that waits for them. */
export class Gate {
  private constructor(
    private readonly db: Database,
    private readonly holder: Transaction,
    private readonly table: string,
  ) {}

  static async close(db: Database, { at, of, table, when = 'true' }: Standing): Promise<Gate> {
    const holder = await db.transaction();
    await holder.raw('select pg_advisory_xact_lock(?)', [LOCK]);
    await db.raw(`create or replace function stand_at_gate() returns trigger language plpgsql as
      $$ begin
           perform set_config('lock_timeout', '0', true);
           perform pg_advisory_xact_lock_shared(${LOCK});
           return new;
         end $$`);
    await db.raw(
      at === 'write'
        ? `create trigger gate before ${of} on ${table} for each row when (${when}) execute function stand_at_gate()`
        : `create constraint trigger gate after ${of} on ${table} deferrable initially deferred
             for each row when (${when}) execute function stand_at_gate()`,
    );
    return new Gate(db, holder, table);
  }

  /** Whether one stands before it. */
  async isReached(): Promise<boolean> {
    const { rows } = await this.db.raw<{ rows: unknown[] }>(
      `select 1 from pg_locks where locktype = 'advisory' and objid = ? and not granted
          and database = (select oid from pg_database where datname = current_database())`,
      [LOCK],
    );
    return rows.length > 0;
  }

  /** Lets all through, now and from now on. */
  async open(): Promise<void> {
    await this.holder.commit();
    await this.db.raw(`drop trigger gate on ${this.table}`);
  }
}
