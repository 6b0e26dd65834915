import type { Database } from '../../../adapters/postgres/database.js';

/**
 * The clock of a test's own database, which stands still until the test moves it. So each instant is known to the
 * millisecond, and an hour passes at once.
 */
export class VirtualClock {
  private constructor(private readonly db: Database) {}

  static async install(db: Database): Promise<VirtualClock> {
    await db.raw(`create table virtual_clock (at timestamptz(3) not null)`);
    await db.raw(`insert into virtual_clock values ('2026-01-01T00:00:00Z')`);
    const clock = new VirtualClock(db);
    await clock.tells('at');
    return clock;
  }

  /** What the clock tells. @param instant SQL */
  private async tells(instant: string): Promise<void> {
    await this.db.raw(
      `create or replace function clock_ms() returns timestamptz(3) language sql volatile
         as $$ select ${instant} from virtual_clock $$`,
    );
  }

  async pass(ms: number): Promise<void> {
    await this.db.raw(`update virtual_clock set at = at + ? * interval '1 millisecond'`, [ms]);
  }

  /** Moves the clock by this much for all reads but the first while something runs; a negative number sets it back. */
  async moveAfterRead(ms: number, running: () => Promise<unknown>): Promise<void> {
    await this.db.raw('create sequence reads');
    await this.tells(`at + case when nextval('reads') > 1 then ${ms} else 0 end * interval '1 millisecond'`);
    try {
      await running();
    } finally {
      await this.tells('at');
      await this.db.raw('drop sequence reads');
    }
  }

  async nowMs(): Promise<number> {
    const { rows } = await this.db.raw<{ rows: { at: Date }[] }>('select at from virtual_clock');
    return rows[0]!.at.getTime();
  }
}
