import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { urlAs } from '../../support/ops/operators.js';

const folder = new URL('../../../docs/operations/', import.meta.url);

interface Statement {
  readonly file: string;
  readonly sql: string;
  /** true: the page says that the owner's login is used. */
  readonly owner: boolean;
}

/** The statements that the pages tell an operator to type at night. */
function statements(): Statement[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      [...readFileSync(new URL(file, folder), 'utf8').matchAll(/```sql\n([^]*?)```/g)]
        .flatMap(([, block = '']) => block.split(/;\n/))
        .filter((sql) => sql.trim() !== '')
        .map((sql) => ({ file, sql, owner: sql.includes('-- owner') })),
    );
}

describe('the SQL of the runbooks', () => {
  let database: MoneyDatabase;
  let operator: Database;
  /** The value for the pages' placeholder. */
  let walletId: number;
  before(async () => {
    database = await openMoneyDatabase();
    operator = openDatabase(urlAs('ada', database.url), 1, 'test');
    walletId = (await insertWallet(database.db, 0)).id;
    await database
      .db('wallets')
      .where({ id: walletId })
      .update({ metering_blocked_at: new Date(), metering_blocked_reason: 'a test' });
  });
  after(async () => {
    await operator.destroy();
    await database.close();
  });

  const all = statements();
  it('is there', () => assert.ok(all.length >= 4));
  for (const { file, sql, owner } of all) {
    it(`${file}: ${sql.trim().split('\n').at(-1)}, as ${owner ? 'the owner' : 'an operator'}`, async () => {
      const trx = await (owner ? database.db : operator).transaction();
      try {
        await trx.raw(sql.replaceAll('…', String(walletId)));
      } finally {
        await trx.rollback();
      }
    });
  }

  it('of an owner is refused to an operator, so that the page is right to say so', async () => {
    const writing = all.find(({ sql }) => sql.includes('update wallets'));
    await assert.rejects(operator.raw((writing?.sql ?? '').replaceAll('…', String(walletId))), {
      code: '42501',
    });
  });
});
