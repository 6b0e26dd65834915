import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import type { UserRow } from '../../adapters/postgres/rows/tables.js';
import type { ApiKeyId, RentalId } from '../../domain/ids.js';
import { insertUser } from '../support/money/factories.js';
import { insertKey } from '../support/money/keys.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

describe('the schema refuses what would pass a cap or a budget', () => {
  let database: MoneyDatabase;
  let db: Database;
  let user: UserRow;
  let key: ApiKeyId;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
  });
  beforeEach(async () => {
    user = await insertUser(db);
    key = await insertKey(db, user.id, 500);
  });
  after(() => database.close());

  /** Asserts that this constraint fires, at the latest when the transaction commits. */
  async function refuses(constraint: string, work: (trx: Transaction) => Promise<unknown>): Promise<void> {
    await assert.rejects(
      db.transaction((trx) => work(trx)),
      { constraint },
    );
  }

  async function insertRental(on: Database | Transaction, limit: number | null, of = key): Promise<RentalId> {
    const id = newId('rent');
    await on.raw(
      `insert into rentals (id, wallet_id, user_id, status, family, model, gpu_count, region, region_code, interconnect,
         template_id, ssh_key_ids, listing_id, provider_code, tag, price_per_hour_cents, max_spend_cents, hold_cents,
         started_at, api_key_id)
       select :id, id, user_id, 'provisioning', 'rtx-4090', 'RTX_4090', 1, 'Oslo', 'NO', 'pcie', 'ubuntu-24-04', '{}',
         'lst_x', 'lab', :id, 50, :limit::bigint, 0, clock_ms(), :of
       from wallets where user_id = :user`,
      { id, limit, of, user: user.id },
    );
    return id;
  }

  async function reserve(on: Database | Transaction, cents: number, of = key): Promise<void> {
    await on('api_keys').where({ id: of }).increment('reserved_cents', cents);
  }

  async function held(limit = 200): Promise<RentalId> {
    return db.transaction(async (trx) => {
      await reserve(trx, limit);
      return insertRental(trx, limit);
    });
  }

  const settled = `settled_at = clock_ms(), status = 'failed', error = 'x'`;

  it('refuses sums beyond the cap, whoever writes them', async () => {
    await refuses('api_keys_cap', (trx) => reserve(trx, 501));
    await refuses('api_keys_cap', (trx) => trx('api_keys').where({ id: key }).update({ spent_cents: 501 }));
    await held(200);
    await refuses('api_keys_cap', (trx) =>
      trx('api_keys').where({ id: key }).update({ spend_cap_cents: 199 }),
    );
  });

  it('refuses a rental that takes nothing out of the cap, or another sum', async () => {
    await refuses('api_keys_reserve', (trx) => insertRental(trx, 200));
    await refuses('api_keys_reserve', async (trx) => {
      await reserve(trx, 199);
      await insertRental(trx, 200);
    });
    await refuses('api_keys_reserve', (trx) => reserve(trx, 1));
  });

  it('refuses a limit that is raised or lowered behind the back of the cap', async () => {
    const id = await held();
    for (const limit of [201, 199]) {
      await refuses('api_keys_reserve', (trx) =>
        trx('rentals').where({ id }).update({ max_spend_cents: limit }),
      );
    }
  });

  it('refuses a settlement that gives nothing back, and a second giving back', async () => {
    const id = await held();
    await refuses('api_keys_reserve', (trx) => trx.raw(`update rentals set ${settled} where id = ?`, [id]));
    await db.transaction(async (trx) => {
      await trx.raw(`update rentals set ${settled} where id = ?`, [id]);
      await reserve(trx, -200);
    });
    await refuses('api_keys_reserved_cents_check', (trx) => reserve(trx, -200));
  });

  it('refuses a rental without a limit under a cap, and a cap over such a rental', async () => {
    await refuses('api_keys_limits', (trx) => insertRental(trx, null));
    const uncapped = await insertKey(db, user.id, null);
    await insertRental(db, null, uncapped);
    await refuses('api_keys_limits', (trx) =>
      trx('api_keys').where({ id: uncapped }).update({ spend_cap_cents: 5 }),
    );
  });

  it('refuses to give back what was spent, and to hand a rental to another key', async () => {
    await db('api_keys').where({ id: key }).update({ spent_cents: 20 });
    await refuses('api_keys_spent', (trx) => trx('api_keys').where({ id: key }).update({ spent_cents: 19 }));
    const id = await held();
    const other = await insertKey(db, user.id, 500);
    for (const to of [other, null]) {
      await refuses('rentals_key_stays', (trx) => trx('rentals').where({ id }).update({ api_key_id: to }));
    }
  });

  it('refuses budgets that say nothing', async () => {
    const insert = (row: { monthly_cents: number | null; hard: boolean }) => (trx: Transaction) =>
      trx('budgets').insert({ user_id: user.id, ...row });
    await refuses('budgets_hard', insert({ monthly_cents: null, hard: true }));
    await refuses('budgets_monthly_cents_check', insert({ monthly_cents: 0, hard: false }));
  });

  it('refuses a second alert for a share of a month, and a month that is none', async () => {
    const alert = (month: string, percent: number) => (trx: Database | Transaction) =>
      trx('budget_alerts').insert({ user_id: user.id, month, percent, monthly_cents: 1, spent_cents: 1 });
    await alert('2026-11', 50)(db);
    await refuses('budget_alerts_pkey', alert('2026-11', 50));
    await refuses('budget_alerts_month_check', alert('2026-13', 80));
    await refuses('budget_alerts_percent_check', alert('2026-11', 101));
  });
});
