/** Asks a migrated database: both its own server and a test's serve. */
export type Ask = <Row>(sql: string) => Promise<Row[]>;

/** A column as the catalog tells it. */
export interface Column {
  readonly table: string;
  readonly name: string;
  /** In SQL's words, without sizes: `text`, `bigint[]`. */
  readonly type: string;
  /** undefined for a view's, of which the catalog does not know. */
  readonly isNullable: boolean | undefined;
  /** The words that its type or its own check allows. */
  readonly words: readonly string[];
  /** The prefix of the ids that its own check asks for. */
  readonly prefix: string | null;
  /** The column that a foreign key of this column alone leads to. */
  readonly leadsTo: { readonly table: string; readonly name: string } | null;
}

/** Reads the columns of all tables and views but the migrations' own, in the order of the schema. */
export async function readColumns(ask: Ask): Promise<Column[]> {
  const rows = await ask<{
    table: string;
    name: string;
    type: string;
    nullable: boolean | null;
    checks: string[];
    words: string[];
    to_table: string | null;
    to_name: string | null;
  }>(`
    select c.relname as table, a.attname as name, case when c.relkind = 'r' then not a.attnotnull end as nullable,
           regexp_replace(format_type(a.atttypid, a.atttypmod), '\\(\\d+\\)', '') as type,
           array(select pg_get_constraintdef(k.oid) from pg_constraint k
                  where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]) as checks,
           array(select e.enumlabel::text from pg_enum e where e.enumtypid = a.atttypid order by e.enumsortorder) as words,
           f.relname as to_table, fa.attname as to_name
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_constraint r on r.conrelid = c.oid and r.contype = 'f' and r.conkey = array[a.attnum]
      left join pg_class f on f.oid = r.confrelid
      left join pg_attribute fa on fa.attrelid = f.oid and fa.attnum = r.confkey[1]
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v')
       and c.relname not like 'knex%' and c.relname <> 'rate_limits'
     order by c.relname, a.attnum`);
  return rows.map((row) => ({
    ...{ table: row.table, name: row.name, type: row.type, isNullable: row.nullable ?? undefined },
    words: row.type === 'text' ? row.checks.flatMap(wordsOf) : row.words,
    prefix: row.checks.map((check) => /~ '\^([a-z]{2,4})_\[/.exec(check)?.[1]).find(Boolean) ?? null,
    leadsTo: row.to_table && row.to_name ? { table: row.to_table, name: row.to_name } : null,
  }));
}

/** The words of `= ANY (ARRAY['a'::text, …])` and of `= 'a'::text`, where a check says nothing else. */
function wordsOf(check: string): string[] {
  if (/[~<>]|length/.test(check)) return [];
  return [...new Set([...check.matchAll(/'(\w+)'::text/g)].map(([, word]) => word ?? ''))];
}
