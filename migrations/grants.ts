import type { Knex } from 'knex';

/** Who works on the database: each process, and the operators' command line, is one of these. */
export const databaseRoles = {
  api: 'gpu_rental_api',
  worker: 'gpu_rental_worker',
  ops: 'gpu_rental_ops',
} as const;

export type DatabaseRole = keyof typeof databaseRoles;

/**
 * What each role may do with one table or view, as SQL says it (`select, insert (user_id)`); null: nothing. All three
 * are always decided.
 */
export type TableGrants = Readonly<Record<DatabaseRole, string | null>>;

/**
 * Grants what was decided. A migration that makes a table calls it for that table: a table is nobody's but the
 * migrator's until then (test/migrations/roles.test.ts finds one that was forgotten).
 */
export async function grant(knex: Knex, tables: Readonly<Record<string, TableGrants>>): Promise<void> {
  for (const [table, grants] of Object.entries(tables)) {
    for (const role of Object.keys(databaseRoles) as DatabaseRole[]) {
      const privileges = grants[role];
      if (privileges === null) continue;
      await knex.raw(`grant ${privileges} on ?? to ??`, [table, databaseRoles[role]]);
    }
  }
}
