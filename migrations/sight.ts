import knexFactory from 'knex';
import { primaryOf } from '../adapters/postgres/address.js';
import { databaseRoles } from './roles.js';

/**
 * Lets the workers see how old the transactions of other logins are: PostgreSQL hides that, and the alerts about locks
 * are about nobody else's sessions.
 * @returns why they don't see it, with what to run; undefined: they see it. it fails no migration, for
 *   metering does not need it
 */
export async function grantSight(databaseUrl: string): Promise<string | undefined> {
  const knex = knexFactory({
    client: 'pg',
    connection: { ...(await primaryOf(databaseUrl)) },
    pool: { min: 0, max: 1 },
  });
  try {
    const { rows } = await knex.raw<{ rows: { sees: boolean }[] }>(
      `select pg_has_role(?, 'pg_read_all_stats', 'usage') as sees`,
      [databaseRoles.worker],
    );
    if (rows[0]?.sees !== true) await knex.raw('grant pg_read_all_stats to ??', [databaseRoles.worker]);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message.split(' - ').at(-1) : String(error);
    return `The workers can't see how long other logins hold locks, so WalletLockedForLong and TransactionOpenForLong can't fire for them (${why}). As a superuser, or as an administrator of your managed database, run: grant pg_read_all_stats to ${databaseRoles.worker};`;
  } finally {
    await knex.destroy();
  }
}
