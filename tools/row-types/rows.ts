import type { Column } from './catalog.js';
import type { Docs } from './docs.js';
import {
  namesOfRows,
  nullableInViews,
  sources,
  tablesOfViews,
  typesOfColumns,
  typesOfIds,
  typesOfNames,
} from './told.js';

/** What the driver makes of each SQL type (adapters/postgres/database.ts sets that of bigint). */
export const driverTypes: Readonly<Record<string, string>> = {
  text: 'string',
  integer: 'number',
  smallint: 'number',
  bigint: 'number',
  'double precision': 'number',
  boolean: 'boolean',
  bytea: 'Buffer',
  date: 'Date',
  'timestamp with time zone': 'Date',
  'bigint[]': 'number[]',
  'integer[]': 'number[]',
  'text[]': 'string[]',
  'cidr[]': 'string[]',
};

/** Makes the file of all rows' types. */
export function makeRows(columns: readonly Column[], docs: Docs): string {
  const byName = new Map(columns.map((column) => [`${column.table}.${column.name}`, column]));
  const tables = new Map<string, Column[]>();
  for (const one of columns) tables.set(one.table, [...(tables.get(one.table) ?? []), one]);
  const rows = [...tables].map(
    ([table, own]) =>
      `${docOf(docs.get(table))}export interface ${rowName(table)} {\n` +
      own
        .map((one) => `${docOf(docs.get(`${table}.${one.name}`))}${one.name}: ${typeOf(one, byName)};\n`)
        .join('') +
      '}\n',
  );
  const body = rows.join('\n');
  return [
    '// Made from the schema by `npm run rows`: change migrations/ or tools/row-types/told.ts.\n',
    "import type { Knex } from 'knex';\n",
    ...importsOf(body),
    `\n${body}\n`,
    '/** The values of an insert or update: each column, or an expression that the database evaluates. */\n',
    'type Written<Row> = { [Column in keyof Row]?: Row[Column] | Knex.Raw };\n',
    'type Table<Row> = Knex.CompositeTableType<Row, Written<Row>, Written<Row>>;\n\n',
    "declare module 'knex/types/tables.js' {\n  interface Tables {\n",
    ...[...tables.keys()].map((table) => `${table}: Table<${rowName(table)}>;\n`),
    '  }\n}\n',
  ].join('');
}

/** `rental_requests` has rows `RentalRequestRow`. */
function rowName(table: string): string {
  const singular = namesOfRows[table] ?? table.replace(/ies$/, 'y').replace(/s$/, '');
  return `${singular.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Row`;
}

function typeOf(column: Column, byName: ReadonlyMap<string, Column>): string {
  const shown = byName.get(`${tablesOfViews[column.table]}.${column.name}`);
  if (shown) return typeOf(shown, byName);
  const isNullable = column.isNullable ?? nullableInViews.includes(`${column.table}.${column.name}`);
  const value = valueOf(column, byName);
  return isNullable && value !== 'unknown' ? `${value} | null` : value;
}

function valueOf(column: Column, byName: ReadonlyMap<string, Column>): string {
  const told = typesOfColumns[`${column.table}.${column.name}`];
  if (told !== undefined) return told;
  if (column.words.length > 0) return column.words.map((word) => `'${word}'`).join(' | ');
  if (column.prefix !== null) return typesOfIds[column.prefix] ?? 'string';
  const target = column.leadsTo && byName.get(`${column.leadsTo.table}.${column.leadsTo.name}`);
  if (target) return valueOf(target, byName);
  return typesOfNames[column.name] ?? driverTypes[column.type] ?? 'unknown';
}

function importsOf(body: string): string[] {
  return sources.flatMap(([module, names]) => {
    const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(body));
    return used.length === 0 ? [] : [`import type { ${used.join(', ')} } from '${module}';\n`];
  });
}

function docOf(text: string | undefined): string {
  if (text === undefined) return '';
  const lines = text.match(/.{1,112}(?: |$)/g) ?? [];
  const [only = ''] = lines;
  return lines.length === 1
    ? `/** ${only} */\n`
    : `/**\n${lines.map((line) => ` * ${line.trimEnd()}\n`).join('')} */\n`;
}
