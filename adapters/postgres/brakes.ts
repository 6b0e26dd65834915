import type { Database } from './database.js';
import type { BrakeRow } from './tables.js';

/** The global brakes that operators have pulled (decision 37). */
export async function listBrakes(db: Database): Promise<BrakeRow[]> {
  return db('brakes').orderBy('kind');
}
