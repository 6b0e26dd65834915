import type { BrakeKind } from '../../domain/operations/operation.js';
import type { Database } from './database.js';

/** The answer of the database for /readyz. */
export interface Readiness {
  /** The steps of the schema, among those given, that this database has not taken, in their order. */
  readonly missing: readonly string[];
  /** The brakes that are pulled (decision 37, "Brakes and the watermark"). */
  readonly brakes: readonly BrakeKind[];
  /** The server takes no changes: it is a standby, or was set so. */
  readonly isReadOnly: boolean;
}

/** Reads the readiness in one short statement. */
export async function readReadiness(db: Database, steps: readonly string[]): Promise<Readiness> {
  const { rows } = await db.raw<{ rows: Readiness[] }>(
    `select array(
              select s.name from unnest(?::text[]) with ordinality s (name, no)
               where not exists (select 1 from knex_migrations m where m.name = s.name)
               order by s.no) as missing,
            array(select kind from brakes order by kind) as brakes,
            ${isReadOnly} as "isReadOnly"`,
    [[...steps]],
  );
  const row = rows[0];
  if (!row) throw new Error('the readiness statement answered no row');
  return row;
}

/** True on a standby as well. */
const isReadOnly = `current_setting('transaction_read_only')::boolean`;

/**
 * Asks whether the database answers and takes changes.
 * @throws Error when it does not
 */
export async function askForChanges(db: Database): Promise<void> {
  const { rows } = await db.raw<{ rows: { readOnly: boolean }[] }>(`select ${isReadOnly} as "readOnly"`);
  if (rows[0]?.readOnly !== false)
    throw new Error('the database takes no changes: it is a standby, or set read-only');
}
