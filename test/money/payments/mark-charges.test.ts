import assert from 'node:assert/strict';
import { markCharges } from '../../../money/payments/mark-charges.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';

describe('marking the payer of a denied payment (decision 79)', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  it('is done once, by whoever is first, and not again after an operator has lifted it', async () => {
    const { db } = database;
    const { user_id: userId } = await insertWallet(db, 0);
    const mark = { id: 'du_1', kind: 'dispute', chargeId: 'ch_1', userId, fingerprint: 'fp_1' } as const;
    const again = (): Promise<boolean> => markCharges(db, mark, null);
    const both = await Promise.all([again(), again()]);
    assert.deepEqual(both.toSorted(), [false, true]);
    await db('charge_marks').update({ lifted_at: db.raw('clock_ms()') });
    assert.equal(await again(), false);
    assert.deepEqual(await db('charge_marks').whereNull('lifted_at'), []);
  });

  it('wakes the closing of an account that is closed: its card is to become a number', async () => {
    const { db } = database;
    const { user_id: userId } = await insertWallet(db, 0);
    const gone = { erased_at: new Date(), late_until: new Date(), closed_at: new Date() };
    await db('account_closings').insert({ user_id: userId, state: 'closed', ...gone });
    const mark = { id: 'issfr_1', kind: 'early_fraud_warning', chargeId: 'ch_3' } as const;
    await markCharges(db, { ...mark, userId, fingerprint: 'fp_3' }, null);
    const row = await db('account_closings').where({ user_id: userId }).first();
    assert.deepEqual([row?.state, row?.closed_at], ['kept', null]);
  });

  it('is not done where neither a user nor a card is known', async () => {
    const mark = { id: 'du_2', kind: 'dispute', chargeId: 'ch_2', userId: null, fingerprint: null } as const;
    assert.equal(await markCharges(database.db, mark, null), false);
    assert.equal(await database.db('charge_marks').where({ id: 'du_2' }).first(), undefined);
  });
});
