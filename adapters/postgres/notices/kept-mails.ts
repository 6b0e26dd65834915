import type { Database } from '../database.js';
import type { KeptMailRow } from '../rows/tables.js';

/**
 * Lists the mails to an address that are kept, newest first; a text that carries a code is null.
 * @param before only mails before this number
 */
export async function listKeptMails(
  db: Database,
  recipient: string,
  before: number | undefined,
  limit: number,
): Promise<KeptMailRow[]> {
  const query = db('kept_mails').where({ recipient }).orderBy('id', 'desc').limit(limit);
  if (before !== undefined) void query.where('id', '<', before);
  return query;
}
