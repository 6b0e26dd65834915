import assert from 'node:assert/strict';
import type { Database } from '../../../../adapters/postgres/database.js';
import { readUnderWalletLock } from '../../../../adapters/postgres/requests/last-word.js';
import { sqlStateOf } from '../../../../adapters/postgres/sql-state.js';
import type { UserId } from '../../../../domain/ids.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

/** This long from now on; all files of a run are loaded before its first test begins. */
const inMs = (ms: number): Date => new Date(Date.now() + ms);
const past = (): Date => inMs(-60_000);
const future = (): Date => inMs(60_000);

describe('the last word about what was asked for', () => {
  let money: MoneyDatabase;
  let db: Database;
  let userId: UserId;
  before(async () => {
    money = await openMoneyDatabase();
    db = money.db;
  });
  beforeEach(async () => {
    userId = (await insertWallet(db, 100)).user_id;
  });
  after(() => money.close());

  it('is the row when it is there, whatever the time', async () => {
    assert.deepEqual(await readUnderWalletLock(db, userId, past(), 100, () => Promise.resolve('the row')), {
      kind: 'there',
      row: 'the row',
    });
  });

  it('is never only after the time is over, and not of what was sent for', async () => {
    const nothing = () => Promise.resolve(undefined);
    const sent = () => Promise.resolve('sent' as const);
    assert.equal((await readUnderWalletLock(db, userId, past(), 100, nothing)).kind, 'never');
    assert.equal((await readUnderWalletLock(db, userId, future(), 100, nothing)).kind, 'unknown');
    assert.equal((await readUnderWalletLock(db, userId, past(), 100, sent)).kind, 'unknown');
  });

  it('is unknown while somebody else holds the wallet', async () => {
    const holder = await db.transaction();
    try {
      await holder.raw('select id from wallets where user_id = ? for no key update', [userId]);
      const word = await readUnderWalletLock(db, userId, past(), 100, () => Promise.resolve('not read'));
      assert.equal(word.kind, 'unknown');
    } finally {
      await holder.rollback();
    }
  });

  it('moves no money: the database refuses what writes under its lock', async () => {
    const writing = readUnderWalletLock(db, userId, past(), 100, async (trx) => {
      await trx('wallets').where({ user_id: userId }).update({ available_cents: 0 });
      return 'written';
    });
    await assert.rejects(writing, (error) => sqlStateOf(error) === '25006');
    assert.equal((await db('wallets').where({ user_id: userId }).first())?.available_cents, 100);
  });
});
