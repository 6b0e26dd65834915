import type { Database } from '../../../adapters/postgres/database.js';

/** Moves the clock on for all that waits in the loops: makes their rows this much older. */
export async function ageLoops(db: Database, ms: number): Promise<void> {
  const by = `:ms * interval '1 millisecond'`;
  for (const statement of [
    `update stuck_items set next_attempt_at = next_attempt_at - ${by}, first_failed_at = first_failed_at - ${by},
       last_failed_at = last_failed_at - ${by}, set_aside_at = set_aside_at - ${by}`,
    `update look_signals set told_at = told_at - ${by}, wanted_at = wanted_at - ${by},
       counted_on = ((counted_on + (clock_ms() at time zone 'UTC')::time) - ${by})::date`,
    `update processor_events set received_at = received_at - ${by} where handled_at is null`,
    `update intents set delivered_at = delivered_at - ${by}, created_at = created_at - ${by} where acknowledged_at is null`,
    `update invoices set told_at = told_at - ${by}, attention_at = attention_at - ${by} where attention_at is not null`,
    `update mail_outbox set next_try_at = next_try_at - ${by} where sent_at is null`,
  ]) {
    await db.raw(statement, { ms });
  }
}
