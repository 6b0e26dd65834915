import assert from 'node:assert/strict';
import { erasures, changedApart, sweeps, wentWith } from '../../../../domain/accounts/erasure.js';
import { staying } from '../../../../domain/accounts/staying.js';
import { newId } from '../../../../adapters/ids.js';
import { insertClosing } from '../../../../adapters/postgres/accounts/closings.js';
import { eraseAccount, statementOf } from '../../../../adapters/postgres/accounts/erasing.js';
import { shutOut } from '../../../../adapters/postgres/accounts/shutting-out.js';
import { sweepTables } from '../../../../adapters/postgres/accounts/sweeping.js';
import { openDatabase } from '../../../../adapters/postgres/database.js';
import { databaseRoles } from '../../../../migrations/roles.js';
import { wordColumns } from '../../../support/catalog-columns.js';
import { insertUser } from '../../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

const installationKey = Buffer.alloc(32, 7).toString('base64');

describe('what closing an account erases', () => {
  let money: MoneyDatabase;
  let columns: string[];
  before(async () => {
    money = await openMoneyDatabase();
    columns = (await wordColumns(money.db)).map(({ table, name }) => `${table}.${name}`);
  });
  after(() => money.close());

  const tableOf = (column: string): string => column.slice(0, column.indexOf('.'));

  /** All that the lists say of columns; a star is all of a table's. */
  function listed(): string[] {
    const erased = [...sweeps, ...erasures].flatMap(({ table, becomes }) =>
      Object.keys(becomes ?? { '*': '' }).map((column) => `${table}.${column}`),
    );
    const kept = Object.values(staying).flatMap((tables) =>
      Object.entries(tables).flatMap(([table, names]) => names.split(' ').map((name) => `${table}.${name}`)),
    );
    return [...erased, ...kept, ...changedApart, ...wentWith.map((table) => `${table}.*`)];
  }

  it('is said of each column that can hold words', () => {
    assert.ok(columns.length > 300, `${columns.length} columns`);
    const known = new Set(listed());
    const unsaid = columns.filter((column) => !known.has(column) && !known.has(`${tableOf(column)}.*`));
    assert.deepEqual(unsaid, [], 'name them in domain/accounts/erasure.ts');
  });

  it('names no column that there is not', () => {
    const tables = new Set(columns.map(tableOf));
    const known = new Set(columns);
    const unknown = listed().filter((column) =>
      column.endsWith('.*') ? !tables.has(tableOf(column)) : !known.has(column),
    );
    assert.deepEqual(unknown, []);
  });

  it('is what the worker may do, and nobody else', async () => {
    const user = await insertUser(money.db);
    await insertClosing(money.db, user.id, 'restored');
    const worker = openDatabase(money.url, 1, 'test', databaseRoles.worker);
    const denied: string[] = [];
    try {
      for (const erasure of erasures)
        await worker
          .raw(statementOf(erasure), {
            userId: user.id,
            email: user.email,
          })
          .catch((error: unknown) => denied.push(`${erasure.table}: ${String(error)}`));
      assert.deepEqual(denied, []);
      await money.db('webhooks').insert({
        ...{ id: newId('wh'), user_id: user.id, url: 'https://example.com', state: 'enabled' },
        ...{ enabled_at: new Date(), cursor_seq: 0 },
      });
      await shutOut(worker, user.id);
      await sweepTables(worker, user.id, () => undefined);
      await eraseAccount(worker, user.id, installationKey);
    } finally {
      await worker.destroy();
    }
  });

  it('says one thing of a column', () => {
    const said = listed().filter((column) => !column.endsWith('.*'));
    const removed = new Set(
      [...sweeps, ...erasures].filter(({ becomes }) => !becomes).map(({ table }) => table),
    );
    const twice = said.filter((column, at) => said.indexOf(column) !== at);
    assert.deepEqual(twice, []);
    // Of a mail to somebody else, and of a card's tie, only a part goes.
    const both = new Set(said.map(tableOf).filter((table) => removed.has(table)));
    assert.deepEqual([...both].sort(), ['account_ties', 'mail_outbox']);
  });
});
