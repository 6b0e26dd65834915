import type { Database } from '../database.js';
import type { InstallationKeyRow } from '../rows/tables.js';

type KeyName = InstallationKeyRow['name'];

/** A key that this installation made for itself, and when. */
export type InstallationKey = Pick<InstallationKeyRow, 'key' | 'created_at'>;

const known = new WeakMap<Database, Map<KeyName, Promise<InstallationKey>>>();

/** A key never changes, so each pool reads it once; a failure is not kept. */
export async function getInstallationKey(db: Database, name: KeyName): Promise<InstallationKey> {
  const keys = known.get(db) ?? new Map<KeyName, Promise<InstallationKey>>();
  known.set(db, keys);
  const asked = keys.get(name) ?? readKey(db, name);
  keys.set(name, asked);
  try {
    return await asked;
  } catch (error) {
    keys.delete(name);
    throw error;
  }
}

async function readKey(db: Database, name: KeyName): Promise<InstallationKey> {
  const row = await db('installation_keys').where({ name }).first('key', 'created_at');
  if (!row) throw new Error(`the key ${name} of this installation is missing: migrate`);
  return row;
}
