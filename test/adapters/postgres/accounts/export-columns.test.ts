import assert from 'node:assert/strict';
import { exportFiles } from '../../../../api/accounts/export-files.js';
import { erasures, sweeps, wentWith } from '../../../../domain/accounts/erasure.js';
import { leftOut, toldIn } from '../../../../domain/accounts/export.js';
import { distributed } from '../../../migrations/placement.js';
import { wordColumns } from '../../../support/catalog-columns.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

/** What an export tells, and what it leaves out. */
const said = [toldIn, leftOut].flatMap((lists) =>
  Object.values(lists).flatMap((tables) =>
    Object.entries(tables).flatMap(([table, names]) => names.split(' ').map((name) => `${table}.${name}`)),
  ),
);

describe('what an export tells (decision 184)', () => {
  let money: MoneyDatabase;
  let columns: Awaited<ReturnType<typeof wordColumns>>;
  before(async () => {
    money = await openMoneyDatabase();
    columns = await wordColumns(money.db);
  });
  after(() => money.close());

  /** All tables that hold something of one user. */
  const tables = (): string[] => [
    ...new Set([
      ...Object.values(distributed).flat(),
      ...[...erasures, ...sweeps].map(({ table }) => table),
      ...wentWith,
      ...columns.filter(({ name }) => name === 'user_id').map(({ table }) => table),
    ]),
  ];

  it('is said of each table and column that holds something of one user', () => {
    assert.ok(tables().length > 60);
    const known = new Set(said);
    const unsaid = tables().flatMap((table) => {
      if (known.has(`${table}.*`)) return [];
      const words = columns.filter((column) => column.table === table && column.name !== 'user_id');
      if (words.length === 0) return [table];
      return words.map(({ name }) => `${table}.${name}`).filter((name) => !known.has(name));
    });
    assert.deepEqual(unsaid, [], 'name them in domain/accounts/export.ts');
  });

  it('is said once, and of nothing that there is not', () => {
    assert.deepEqual(
      said.filter((name, at) => said.indexOf(name) !== at),
      [],
    );
    const known = new Set(columns.map(({ table, name }) => `${table}.${name}`));
    const all = new Set(tables());
    const unknown = said.filter(
      (name) => !known.has(name) && !(name.endsWith('.*') && all.has(name.slice(0, -2))),
    );
    assert.deepEqual(unknown, []);
  });

  it('stands in each of its files', () => {
    assert.deepEqual(Object.keys(toldIn).sort(), exportFiles.map(({ name }) => name).sort());
  });
});
