import type { Database } from '../../adapters/postgres/database.js';

/** Types that can't hold words: numbers, instants, and yes or no. */
const wordless = ['int', 'bool', 'float', 'timestamp', 'date', 'numeric'];

/** A column of the schema that can hold words. */
export interface WordColumn {
  readonly table: string;
  readonly name: string;
}

/** Lists the columns of all tables that can hold words. */
export async function wordColumns(db: Database): Promise<WordColumn[]> {
  const { rows } = await db.raw<{ rows: (WordColumn & { type: string })[] }>(
    `select c.table_name as table, c.column_name as name, ltrim(c.udt_name, '_') as type
       from information_schema.columns c
       join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and t.table_type = 'BASE TABLE'`,
  );
  return rows.filter(({ type }) => !wordless.some((word) => type.startsWith(word)));
}
