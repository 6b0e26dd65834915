import assert from 'node:assert/strict';
import type { Database } from '../../../../adapters/postgres/database.js';
import {
  verifyWallets,
  walletRanges,
  type WalletRange,
} from '../../../../adapters/postgres/ledger/verify.js';
import type { WalletRow } from '../../../../adapters/postgres/rows/tables.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';
import { insertRentals, seal, writeEntries } from '../../../support/money/sealed.js';

describe('a long ledger that is verified in parts', () => {
  let opened: MoneyDatabase;
  let db: Database;
  let wallet: WalletRow;

  before(async () => {
    opened = await openMoneyDatabase();
    ({ db } = opened);
    await db.raw('select switch_sealing(true)');
  });
  after(() => opened.close());

  beforeEach(async () => {
    wallet = await insertWallet(db, 1_000);
    const rentals = await insertRentals(db, wallet, 2);
    const entry = (no: number) =>
      ({ type: 'rental_charge', rental: no % 2, cents: no + 1, gapMs: 1_000 }) as const;
    await writeEntries(
      db,
      wallet,
      rentals,
      Array.from({ length: 20 }, (_, no) => entry(no)),
    );
    for (let sealed = 0; sealed < 12; sealed += 4) await seal(db, wallet, 4);
  });

  /** What is found of chains, in spans of so many entries. Where entries are missing, none is before the next span. */
  async function chainOf(entriesAtOnce: number): Promise<readonly (readonly [number | null, string])[]> {
    const found = await verifyWallets(db, { userId: wallet.user_id }, { entriesAtOnce });
    return found
      .filter(({ rule }) => rule === 'chain')
      .map(({ seq, detail }) => [seq, detail.replace(/ after .*/, '')]);
  }

  const harms: readonly (readonly [string, string])[] = [
    [
      'an amount',
      'update ledger_entries set amount_cents = amount_cents - 1 where wallet_id = :id and seq = 16',
    ],
    ['a balance', 'update ledger_entries set balance_after_cents = 7 where wallet_id = :id and seq = 15'],
    ['a missing entry', 'delete from ledger_entries where wallet_id = :id and seq = 16'],
    ['missing entries', 'delete from ledger_entries where wallet_id = :id and seq between 14 and 18'],
    ['a sum of a seal', 'update ledger_seals set closing_cents = 3 where wallet_id = :id and last_seq = 8'],
    ['a hash', "update ledger_hashes set hash = sha256('') where wallet_id = :id and last_seq = 8"],
  ];
  for (const [what, sql] of harms) {
    it(`tells ${what}, wherever a span begins`, async () => {
      assert.deepEqual(await chainOf(1_000), []);
      await db.transaction(async (trx) => {
        const tables = ['ledger_entries', 'ledger_seals', 'ledger_hashes'];
        for (const table of tables) await trx.raw(`alter table ${table} disable trigger user`);
        await trx.raw(sql, { id: wallet.id });
        for (const table of tables) await trx.raw(`alter table ${table} enable trigger user`);
      });
      const whole = await chainOf(1_000);
      assert.ok(whole.length > 0);
      for (const entries of [1, 2, 3, 5, 8, 20]) {
        assert.deepEqual(await chainOf(entries), whole, `in spans of ${entries}`);
      }
    });
  }

  it('is walked in ranges that leave out no wallet, one of many entries alone', async () => {
    for (let made = 0; made < 6; made += 1) await insertWallet(db, 100);
    const ids = await db('wallets').orderBy('id').select('id', 'seq');
    for (const [entries, wallets] of [
      [5, 200],
      [1_000, 2],
      [1_000, 200],
    ] as const) {
      const ranges: WalletRange[] = [];
      for await (const range of walletRanges(db, { entries, wallets })) ranges.push(range);
      const within = ({ fromId, toId }: WalletRange) => ids.filter(({ id }) => id >= fromId && id <= toId);
      assert.deepEqual(
        ranges.flatMap(within).map(({ id }) => id),
        ids.map(({ id }) => id),
      );
      for (const range of ranges) {
        const of = within(range);
        const held = of.reduce((sum, { seq }) => sum + seq, 0);
        assert.ok(of.length === 1 || (held <= entries && of.length <= wallets), JSON.stringify(range));
      }
    }
  });
});
