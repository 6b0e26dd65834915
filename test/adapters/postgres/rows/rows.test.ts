import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { makeRowsFile, rowsFile } from '../../../../tools/row-types/file.js';
import { readColumns, type Ask, type Column } from '../../../../tools/row-types/catalog.js';
import { driverTypes } from '../../../../tools/row-types/rows.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

/** A value of each SQL type, as JSON. */
const samples: Readonly<Record<string, unknown>> = {
  text: 'a',
  integer: 1,
  smallint: 1,
  bigint: 4_000_000_000,
  'double precision': 0.5,
  boolean: true,
  bytea: '\\x00ff',
  date: '2026-11-26',
  'timestamp with time zone': '2026-11-26T00:00:00Z',
  'bigint[]': [1],
  'integer[]': [1],
  'text[]': ['a'],
  'cidr[]': ['10.0.0.0/8'],
  json: { a: 1 },
  jsonb: { a: 1 },
  ledger_entry_type: 'refund',
};

describe('the types of rows', () => {
  let money: MoneyDatabase;
  let ask: Ask;
  before(async () => {
    money = await openMoneyDatabase();
    ask = async <Row>(sql: string) => (await money.db.raw<{ rows: Row[] }>(sql)).rows;
  });
  after(() => money.close());

  it('are what the schema says (npm run rows makes them anew)', async () => {
    assert.equal(readFileSync(rowsFile, 'utf8'), await makeRowsFile(ask));
  });

  it('are what the driver gives for a row of each table', async () => {
    const columns = await readColumns(ask);
    const tables = new Set(columns.map(({ table }) => table));
    assert.ok(tables.size > 60, `${tables.size} tables`);
    for (const table of tables) {
      const own = columns.filter((column) => column.table === table);
      const sample = JSON.stringify(Object.fromEntries(own.map(({ name, type }) => [name, samples[type]])));
      const [row] = await ask<Record<string, unknown>>(
        `select * from jsonb_populate_record(null::${table}, '${sample}')`,
      );
      for (const column of own)
        assert.equal(kindOf(row?.[column.name]), wanted(column), `${table}.${column.name}`);
    }
  });

  const wanted = ({ type }: Column): string =>
    driverTypes[type] ?? (type.startsWith('json') ? 'Object' : 'string');

  function kindOf(value: unknown): string {
    if (Array.isArray(value)) return `${kindOf(value[0])}[]`;
    return typeof value === 'object' && value !== null ? value.constructor.name : typeof value;
  }
});
