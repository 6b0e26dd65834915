import assert from 'node:assert/strict';
import pg from 'pg';
import { readRowTypes, type Kind, type TypedColumn } from '../../../support/schema/row-types.js';
import { createTestDatabase, type TestDatabase } from '../../../support/servers/database.js';

/** The driver's kind for each type (adapters/postgres/database.ts). */
const handedOver: Readonly<Record<string, readonly Kind[]>> = {
  bigint: ['number'],
  'bigint[]': ['string[]'],
  boolean: ['boolean'],
  bytea: ['Buffer'],
  'character varying': ['string'],
  'cidr[]': ['string[]'],
  date: ['Date'],
  integer: ['number'],
  'integer[]': ['number[]'],
  json: ['anything', 'object', 'string[]'],
  jsonb: ['anything', 'object', 'string[]'],
  text: ['string'],
  'text[]': ['string[]'],
  'timestamp with time zone': ['Date'],
};

/** Tables that only a library writes and reads, with types of its own. */
const ofLibraries = new Set(['knex_migrations', 'knex_migrations_lock', 'rate_limits']);

interface Column {
  readonly relation: string;
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  /** A view's columns don't say whether they may be null. */
  readonly ofView: boolean;
  readonly isEnum: boolean;
}

const columns = `
  select c.relname as relation, a.attname as name, a.atttypid::regtype::text as type, not a.attnotnull as nullable,
         c.relkind = 'v' as "ofView", t.typtype = 'e' as "isEnum"
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v') and a.attnum > 0 and not a.attisdropped
   order by c.oid, a.attnum`;

describe('the types of rows', () => {
  let database: TestDatabase;
  const schema = new Map<string, Column[]>();
  const types = readRowTypes();

  before(async () => {
    database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (const column of (await client.query(columns)).rows as Column[]) {
      schema.set(column.relation, [...(schema.get(column.relation) ?? []), column]);
    }
    await client.end();
  });
  after(() => database.drop());

  it('are there for each table and view, and for no other', () => {
    const real = [...schema.keys()].filter((table) => !ofLibraries.has(table));
    const wrong = [
      ...real.filter((table) => !types.has(table)).map((table) => `${table} has no type`),
      ...[...types.keys()].filter((table) => !schema.has(table)).map((table) => `${table} is no table`),
    ];
    assert.equal(wrong.join('\n'), '');
  });

  for (const [table, typed] of types) {
    it(`say of ${table} what the database says`, () => {
      const real = schema.get(table) ?? [];
      const wrong = [
        ...missing(real, typed),
        ...typed.flatMap((column) => wrongs(column, find(real, column.name))),
      ];
      assert.equal(wrong.join('\n'), '');
    });
  }
});

function find<T extends { name: string }>(all: readonly T[], name: string): T | undefined {
  return all.find((one) => one.name === name);
}

function missing(real: readonly Column[], typed: readonly TypedColumn[]): string[] {
  return real
    .filter(({ name }) => !find(typed, name))
    .map(({ name, type }) => `${name} (${type}) is missing`);
}

function wrongs({ name, kind, nullable, text }: TypedColumn, real: Column | undefined): string[] {
  if (!real) return [`${name} is no column`];
  const kinds = real.isEnum ? ['string'] : (handedOver[real.type] ?? []);
  return [
    ...(kinds.includes(kind) ? [] : [`${name} is ${text}, the database has ${real.type}`]),
    ...(real.ofView || kind === 'anything' || nullable === real.nullable
      ? []
      : [`${name} is ${text}, the database has ${real.nullable ? 'null, too' : 'no null'}`]),
  ];
}
