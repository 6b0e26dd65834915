import type { Database } from './database.js';

/** The steps of the schema, of those that are asked for, that this database has not taken; the order is kept. */
export async function listMissingSteps(db: Database, steps: readonly string[]): Promise<string[]> {
  if (steps.length === 0) return [];
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select s.name from unnest(?::text[]) with ordinality s (name, no)
      where not exists (select 1 from knex_migrations m where m.name = s.name)
      order by s.no`,
    [[...steps]],
  );
  return rows.map(({ name }) => name);
}
