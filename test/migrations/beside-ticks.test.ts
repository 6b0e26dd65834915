import assert from 'node:assert/strict';
import type { Database } from '../../adapters/postgres/database.js';
import { up } from '../../migrations/042-cheaper-chains.js';
import {
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../support/money/money.js';
import { until } from '../support/until.js';

/** New versions migrate first, while engines of the version before go on ticking. */
describe('a migration of the meters', () => {
  let database: MoneyDatabase;
  let db: Database;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    const wallet = await insertWallet(db, 1_000);
    await insertRunning(db, wallet, { priceCents: 100, ranMs: 60_000 });
  });
  after(() => database.close());

  it('waits for a tick that has looked at them, and lets it write', async () => {
    const tick = await db.transaction();
    let migrated: Promise<void>;
    try {
      await tick.raw('select count(*) from meters');
      migrated = db.transaction((trx) => up(trx));
      migrated.catch(() => undefined);
      await until('the migration waits', async () => {
        const { rows } = await db.raw<{ rows: unknown[] }>(
          `select 1 from pg_locks where relation = 'meters'::regclass and not granted`,
        );
        return rows.length > 0;
      });
      await tick.raw('update meters set charged_cents = charged_cents');
      await tick.commit();
    } catch (error) {
      await tick.rollback();
      throw error;
    }
    await assert.doesNotReject(migrated);
  });
});
