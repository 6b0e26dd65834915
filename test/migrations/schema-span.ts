import type { Database } from '../../adapters/postgres/database.js';
import { copied, distributed, parents } from './placement.js';

/** What the catalog says about the tables: what must be unique, what points where, and what triggers look at. */
export interface Schema {
  /** The columns of each table that are never null. */
  readonly filled: ReadonlyMap<string, readonly string[]>;
  /** Primary keys, unique indexes and exclusion constraints. */
  readonly keys: readonly Key[];
  readonly references: readonly Reference[];
  readonly triggers: readonly Trigger[];
  /** The words of each function and view of ours. */
  readonly words: ReadonlyMap<string, ReadonlySet<string>>;
}

interface Key {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
}

interface Reference extends Key {
  readonly target: string;
  readonly targetColumns: readonly string[];
}

interface Trigger {
  readonly table: string;
  readonly name: string;
  readonly routine: string;
  /** It gets all rows at once that a statement changed. */
  readonly getsMany: boolean;
}

const columnsOf = (table: string, numbers: string) =>
  `array(select a.attname::text from unnest(${numbers}) with ordinality as k (no, place)
          join pg_attribute a on a.attrelid = ${table} and a.attnum = k.no order by k.place)`;

/** Reads the schema `public`. */
export async function readSchema(db: Database): Promise<Schema> {
  const ask = async <Row>(sql: string) => (await db.raw<{ rows: Row[] }>(sql)).rows;
  const tables = await ask<{ table: string; filled: string[] }>(
    `select c.relname as table, coalesce(array_agg(a.attname::text) filter (where a.attnotnull), '{}') as filled
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') group by 1`,
  );
  const words = await ask<{ name: string; text: string }>(
    `select proname as name, string_agg(prosrc, ' ') as text from pg_proc
      where pronamespace = 'public'::regnamespace group by 1
     union all select viewname, definition from pg_views where schemaname = 'public'`,
  );
  return {
    filled: new Map(tables.map(({ table, filled }) => [table, filled])),
    keys: await ask(
      `select i.indrelid::regclass::text as table, i.indexrelid::regclass::text as name,
              ${columnsOf('i.indrelid', 'i.indkey::int2[]')} as columns
         from pg_index i join pg_class c on c.oid = i.indrelid
        where c.relnamespace = 'public'::regnamespace and (i.indisunique or i.indisexclusion)`,
    ),
    references: await ask(
      `select conrelid::regclass::text as table, conname as name, ${columnsOf('conrelid', 'conkey')} as columns,
              confrelid::regclass::text as target, ${columnsOf('confrelid', 'confkey')} as "targetColumns"
         from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
    ),
    triggers: await ask(
      `select g.tgrelid::regclass::text as table, g.tgname as name, p.proname as routine,
              coalesce(g.tgoldtable, g.tgnewtable) is not null as "getsMany"
         from pg_trigger g join pg_class c on c.oid = g.tgrelid join pg_proc p on p.oid = g.tgfoid
        where not g.tgisinternal and c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`,
    ),
    words: new Map(words.map(({ name, text }) => [name, wordsOf(text)])),
  };
}

/** Names every key, reference and trigger that spans wallets, those of one wallet's rows in several tables included. */
export function spanningOf(schema: Schema): string[] {
  return [
    ...schema.keys.filter((key) => isOfWallets(key.table) && !holdsPlace(key)),
    ...schema.references.filter((reference) => !staysWithin(reference)),
    ...schema.triggers.filter((trigger) => reachesFar(trigger, schema)),
  ].map(({ table, name }) => (name.startsWith(table) ? name : `${table}.${name}`));
}

const columnByTable = new Map(
  Object.entries(distributed).flatMap(([column, names]) => names.map((name) => [name, column])),
);
const isOfWallets = (table: string) => columnByTable.has(table);

/** The columns that say whose a row is. */
function placesOf(table: string): readonly string[] {
  const own = table === 'wallets' || table === 'users' ? ['id'] : [];
  return [...own, 'wallet_id', 'user_id', columnByTable.get(table)!];
}

const holdsPlace = ({ table, columns }: Key) => columns.some((column) => placesOf(table).includes(column));

function staysWithin({ table, columns, target, targetColumns }: Reference): boolean {
  if (copied.includes(target) || (!isOfWallets(table) && !isOfWallets(target))) return true;
  if (!isOfWallets(table) || !isOfWallets(target)) return false;
  return columns.some((column, n) => {
    const to = targetColumns[n]!;
    const isParent = column === columnByTable.get(table) && parents[column] === `${target}.${to}`;
    return isParent || (placesOf(table).includes(column) && placesOf(target).includes(to));
  });
}

function reachesFar({ table, routine, getsMany }: Trigger, schema: Schema): boolean {
  const others = [...reached(routine, schema)].filter((name) => name !== table);
  return isOfWallets(table) ? getsMany || others.length > 0 : others.some(isOfWallets);
}

/** The tables that a function names, by itself or through the functions and views that it names. */
function reached(routine: string, { words, filled }: Schema): ReadonlySet<string> {
  const seen = new Set([routine]);
  for (const name of seen) {
    for (const word of words.get(name) ?? []) if (words.has(word) || filled.has(word)) seen.add(word);
  }
  return new Set([...seen].filter((name) => filled.has(name)));
}

/** The words of a statement, without its comments and texts. */
function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.replace(/--.*$|'[^']*'/gm, '').match(/\w+/g));
}
