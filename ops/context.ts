import type { Database } from '../adapters/postgres/database.js';
import type { TemporalPlace as Place } from '../adapters/temporal/place.js';

/** Temporal, and the address of its UI. */
export interface TemporalPlace extends Place {
  readonly uiUrl: string;
}

/**
 * The commands' connections and settings. A command asks for each when it needs it, so that --help needs no
 * configuration.
 */
export interface OpsContext {
  readonly open: () => Database;
  /** Opens it as the user of its URL, whatever role the others work as. */
  readonly openAsOwner: () => Database;
  readonly temporal: () => TemporalPlace;
  /** The same for links into its UI, which need no answer of Temporal: its address may be missing. */
  readonly ui: () => TemporalPlace;
  /** How many tick engines there are. */
  readonly shards: () => number;
  /** How long a command waits for an outcome, in milliseconds; default: half a minute for an order, longer for a comparison. */
  readonly waitMs?: number;
}

/** Opens the database for one command. */
export async function using(context: OpsContext, work: (db: Database) => Promise<void>): Promise<void> {
  const db = context.open();
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}
