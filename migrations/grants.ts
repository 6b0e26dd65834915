import type { Knex } from 'knex';

/** The roles of the database: one for each process, and one for the operators' command line. */
export const databaseRoles = {
  api: 'gpu_rental_api',
  worker: 'gpu_rental_worker',
  ops: 'gpu_rental_ops',
} as const;

export type DatabaseRole = keyof typeof databaseRoles;

/**
 * The rights of each role on one table or view, in SQL's words (`select, insert (user_id)`); null: none. Every table
 * decides all three.
 */
export type TableGrants = Readonly<Record<DatabaseRole, string | null>>;

/**
 * Grants these rights. A migration that makes a table calls it for that table: until then only the migrator has the
 * table (test/migrations/roles.test.ts finds one that was forgotten).
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
