import type { Database } from '../../../adapters/postgres/database.js';

/** Tables whose rows a new database has already. */
const seeded = ['knex_migrations', 'knex_migrations_lock'];

/** Dumps the rows of a database as SQL, for `restoreDump` into a migrated database. */
export async function dumpRows(db: Database): Promise<string> {
  const { rows: tables } = await db.raw<{ rows: { name: string; columns: string }[] }>(
    `select t.table_name as name, string_agg(quote_ident(c.column_name), ', ' order by c.ordinal_position) as columns
       from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
      where t.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
      group by t.table_name order by t.table_name`,
  );
  const parts: string[] = [];
  for (const { name, columns } of tables.filter((table) => !seeded.includes(table.name))) {
    const { rows } = await db.raw<{ rows: { all: string | null }[] }>(
      `select json_agg(to_json(t))::text as all from ${name} t`,
    );
    const all = rows[0]?.all ?? null;
    parts.push(`delete from ${name};`);
    if (all === null) continue;
    parts.push(
      `insert into ${name} (${columns}) overriding system value
       select ${columns} from json_populate_recordset(null::${name}, '${all.replaceAll("'", "''")}');`,
    );
  }
  return parts.join('\n');
}
