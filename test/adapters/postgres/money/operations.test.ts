import assert from 'node:assert/strict';
import { newId } from '../../../../adapters/ids.js';
import { operate } from '../../../../adapters/postgres/money/operations.js';
import { verifyLedger } from '../../../../adapters/postgres/verify.js';
import type { MoneyAction, Operation as AnyOperation } from '../../../../domain/operation.js';
import { Refusal } from '../../../../domain/refusal.js';
import { getWallet, insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../../support/money.js';

type Operation = AnyOperation<MoneyAction>;

describe('an operation’s transaction', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
    // All connections are open before the first test: what is meant to collide does.
    await Promise.all(Array.from({ length: 10 }, () => database.db.raw('select pg_sleep(0.1)')));
  });
  after(() => database.close());

  function asked(action: MoneyAction): Operation {
    return { operationId: newId('op'), operator: 'ada', reason: 'a test', action };
  }

  const codeOf = (error: unknown): string => (error instanceof Refusal ? error.code : String(error));

  it('moves the money once when ten of the same run at once', async () => {
    const { db } = database;
    const { user_id: userId } = await insertWallet(db, 1_000);
    const operation = asked({ kind: 'adjust', userId, amountCents: -300 });
    const results = await Promise.all(Array.from({ length: 10 }, () => operate(db, operation)));
    for (const result of results) assert.deepEqual(result, { amountCents: -300, availableCents: 700 });
    assert.equal((await getWallet(db, userId)).available_cents, 700);
    assert.equal((await db('mail_outbox').where({ cause: `operation:${operation.operationId}` })).length, 1);
    assert.deepEqual(await verifyLedger(db, userId), []);
  });

  it('never takes more than is available when ten different ones run at once', async () => {
    const { db } = database;
    const { user_id: userId } = await insertWallet(db, 1_000);
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () =>
        operate(db, asked({ kind: 'adjust', userId, amountCents: -300 })).then(() => 'done', codeOf),
      ),
    );
    assert.equal(outcomes.filter((outcome) => outcome === 'done').length, 3);
    assert.equal(outcomes.filter((outcome) => outcome === 'insufficient_balance').length, 7);
    assert.equal((await getWallet(db, userId)).available_cents, 100);
    assert.deepEqual(await verifyLedger(db, userId), []);
  });

  it('serves one user only when two are asked for under one id at once', async () => {
    const { db } = database;
    const users = await Promise.all([insertWallet(db, 0), insertWallet(db, 0)]);
    const { operationId } = asked({ kind: 'refund', userId: users[0].user_id, amountCents: 50 });
    const run = (userId: (typeof users)[0]['user_id']) =>
      operate(db, { ...asked({ kind: 'refund', userId, amountCents: 50 }), operationId });
    await Promise.allSettled(users.map((wallet) => run(wallet.user_id)));
    // As Temporal repeats whoever lost with an error of the database.
    const again = await Promise.all(users.map((wallet) => run(wallet.user_id).then(() => 'done', codeOf)));
    assert.deepEqual(again.sort(), ['done', 'idempotency_conflict']);
    const cents = await Promise.all(
      users.map(async (wallet) => (await getWallet(db, wallet.user_id)).available_cents),
    );
    assert.deepEqual(
      cents.sort((a, b) => a - b),
      [0, 50],
    );
  });
});
