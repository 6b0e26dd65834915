import assert from 'node:assert/strict';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { applyReversal, type Reversal } from '../../../money/reversals/reversals.js';
import { getWallet, insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';

describe('refunds of one payment', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  it('that take more when others give back number their entries, whatever ids begin alike', async () => {
    const { db } = database;
    const { id: walletId, user_id: userId } = await insertWallet(db, 1_000);
    const refund = (id: string, amountCents: number, returned = false): Reversal => ({
      ...{ id, kind: 'refund', status: 'pending', amountCents, paymentId: 'pi_1', userId },
      ...{ paymentCents: 1_000, credited: true, taken: true, returned, closed: returned },
    });
    await applyReversal(db, refund('re_12', 700));
    await applyReversal(db, refund('reX1', 300));
    // Nothing is left of the payment for this reversal until the others come back.
    await applyReversal(db, refund('re_1', 1_000));
    await applyReversal(db, refund('re_12', 700, true));
    await applyReversal(db, refund('reX1', 300, true));
    const causes = await db('ledger_causes').where({ wallet_id: walletId }).orderBy('seq').select('cause');
    assert.deepEqual(
      causes.map(({ cause }) => cause).filter((cause) => !cause.startsWith('payment:')),
      [
        ...['refund:re_12', 'refund:reX1'],
        ...['refund-returned:re_12', 'refund:re_1:1'],
        ...['refund-returned:reX1', 'refund:re_1:2'],
      ],
    );
    assert.equal((await getWallet(db, userId)).available_cents, 0);
    assert.deepEqual(await verifyLedgerAgain(db, userId), []);
  });
});
