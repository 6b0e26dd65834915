import assert from 'node:assert/strict';
import type { Database } from '../../adapters/postgres/database.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

/** A posting moves its wallet and writes its entries in one statement; the triggers see both as they end up. */
describe('the schema refuses postings that do not add up', () => {
  let database: MoneyDatabase;
  let db: Database;
  let bindings: Record<string, unknown>;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    bindings = { wallet: (await insertWallet(db, 1_000)).id, empty: (await insertWallet(db, 0)).id };
  });
  after(() => database.close());

  const posting = (moved: string, values: string, id = ':wallet') =>
    `with moved as (update wallets set ${moved} where id = ${id})
     insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
     values ${values}`;

  for (const [what, constraint, sql] of [
    [
      'a posting whose first entry does not continue the balance',
      'ledger_chain',
      posting(
        'available_cents = available_cents + 10, seq = 3',
        `(:wallet, 2, 'refund', 5, 1006, null, now()), (:wallet, 3, 'refund', 4, 1010, null, now())`,
      ),
    ],
    [
      'a posting whose second entry does not continue its first',
      'ledger_chain',
      posting(
        'available_cents = available_cents + 10, seq = 3',
        `(:wallet, 2, 'refund', 5, 1005, null, now()), (:wallet, 3, 'refund', 6, 1010, null, now())`,
      ),
    ],
    [
      'a posting that leaves out a number',
      'ledger_chain',
      posting(
        'available_cents = available_cents + 5, seq = 3',
        `(:wallet, 3, 'refund', 5, 1005, null, now())`,
      ),
    ],
    [
      'a number that is left out beside a wallet whose entries are whole',
      'ledger_chain',
      `with moved as (
         update wallets set available_cents = available_cents + 5, seq = seq + 2 where id in (:wallet, :empty)
       )
       insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
       values (:wallet, 3, 'refund', 5, 1005, null, now()), (:empty, 1, 'refund', 2, 2, null, now()),
              (:empty, 2, 'refund', 3, 5, null, now())`,
    ],
    [
      'a posting that leaves out the newest number',
      'wallet_is_newest_entry',
      posting(
        'available_cents = available_cents + 5, seq = 3',
        `(:wallet, 2, 'refund', 5, 1005, null, now())`,
      ),
    ],
    [
      'a posting that moves the wallet by something else',
      'wallet_is_newest_entry',
      posting(
        'available_cents = available_cents + 6, seq = 2',
        `(:wallet, 2, 'refund', 5, 1005, null, now())`,
      ),
    ],
    [
      'a first entry that does not begin with nothing',
      'ledger_chain',
      posting('available_cents = 6, seq = 1', `(:empty, 1, 'refund', 5, 6, null, now())`, ':empty'),
    ],
    [
      'a first entry that is not the first',
      'ledger_chain',
      posting('available_cents = 5, seq = 2', `(:empty, 2, 'refund', 5, 5, null, now())`, ':empty'),
    ],
  ] as const) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(
        db.transaction((trx) => trx.raw(sql, bindings)),
        { constraint },
      );
    });
  }

  it('refuses a posting whose entries stand in a temporary table of the same name', async () => {
    const trx = await db.transaction();
    try {
      await trx.raw('create temp table ledger_entries (like public.ledger_entries) on commit drop');
      await trx.raw(
        `insert into pg_temp.ledger_entries values (:wallet, 1, 'processor_topup', 1000, 1000, null, null, null, now()),
        (:wallet, 2, 'refund', 5, 1005, null, null, null, now())`,
        bindings,
      );
      await assert.rejects(
        async () =>
          trx.raw(
            'update wallets set available_cents = available_cents + 5, seq = 2 where id = :wallet',
            bindings,
          ),
        { constraint: 'wallet_is_newest_entry' },
      );
    } finally {
      await trx.rollback();
    }
  });

  it('takes one whose entries lead from where the wallet stood to where it stands', async () => {
    const entries = `(:wallet, 2, 'refund', 5, 1005, null, now()), (:wallet, 3, 'refund', 6, 1011, null, now())`;
    const rightful = posting('available_cents = available_cents + 11, seq = 3', entries);
    const trx = await db.transaction();
    try {
      await trx.raw(rightful, bindings);
    } finally {
      await trx.rollback();
    }
  });
});
