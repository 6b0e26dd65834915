import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { Refusal } from '../../../domain/refusal.js';
import { beginTopup } from '../../../money/topups/topups.js';
import { insertWallet, onVerifiedDatabase } from '../../support/money/money.js';

describe('the top-ups of a young account', () => {
  let db: Database;
  onVerifiedDatabase((opened) => {
    db = opened.db;
  });

  it('are bounded for those that begin at once, too', async () => {
    const { user_id: userId } = await insertWallet(db, 0);
    const input = { userId, amountCents: 500, answerBefore: '2099-01-01T00:00:00.000Z' };
    const begun = await Promise.allSettled(
      Array.from({ length: 8 }, () => beginTopup(db, newId('top'), input, 3)),
    );
    const refusals = begun.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown);
    assert.equal(begun.length - refusals.length, 3);
    for (const refusal of refusals) assert(refusal instanceof Refusal && refusal.code === 'blocked');
    assert.equal((await db('topups').where({ user_id: userId })).length, 3);
  });
});
