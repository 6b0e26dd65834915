import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import { beginErasing } from '../../adapters/postgres/accounts/erasing.js';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import type { OperationId, UserId } from '../../domain/ids.js';
import { databaseRoles } from '../../migrations/roles.js';
import { insertRental, insertUser } from '../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

/** Decision 183, "What closing erases": a transaction that says that it erases passes the guards, and for that alone. */
describe('the guards of what is never changed, while a person is erased', () => {
  let money: MoneyDatabase;
  let worker: Database;
  let ops: Database;
  let userId: UserId;
  let actionId: OperationId;
  let rentalNo: number;
  before(async () => {
    money = await openMoneyDatabase();
    worker = openDatabase(money.url, 1, 'test', databaseRoles.worker);
    ops = openDatabase(money.url, 1, 'test', databaseRoles.ops);
  });
  after(async () => {
    await Promise.all([worker.destroy(), ops.destroy()]);
    await money.close();
  });
  beforeEach(async () => {
    userId = (await insertUser(money.db)).id;
    actionId = newId('op');
    await money.db('account_closings').insert({ user_id: userId, state: 'erasing' });
    rentalNo = (await insertRental(money.db, userId)).no;
    const label = { rental_no: rentalNo, user_id: userId, place: 1, key: 'a', value: 'b' };
    await money.db('rental_labels').insert(label);
    const at = new Date();
    await money
      .db('rentals')
      .where({ no: rentalNo })
      .update({ status: 'stopped', ended_at: at, settled_at: at, closed_at: at, settled_seq: 0 });
    await money.db('audit_events').insert({
      ...{ id: newId('aud'), user_id: userId, kind: 'changed_by_operator', entity_id: actionId },
      ...{ details: { name: 'a' }, client_address: '192.0.2.1' },
    });
    const action = { id: actionId, kind: 'refund', operator: 'ada', reason: 'she phoned' } as const;
    await money.db('operator_actions').insert({
      ...action,
      request: { kind: 'refund', description: 'x', amountCents: 5 },
      result: { was: 'x', seq: 1 },
    });
  });

  const erase = (db: Database, sql: string): Promise<unknown> =>
    db.transaction(async (trx) => {
      await beginErasing(trx);
      await trx.raw(sql, { userId, actionId, rentalNo });
    });
  const ofEvent = (columns: string): string => `update audit_events set ${columns} where user_id = :userId`;
  const ofAction = (columns: string): string => `update operator_actions set ${columns} where id = :actionId`;
  const labels = 'delete from rental_labels where rental_no = :rentalNo';

  it('lets the worker take words out', async () => {
    await erase(worker, ofEvent('details = null, client_address = null'));
    await erase(
      worker,
      ofAction(`reason = 'erased', request = request - 'description', result = result - 'was'`),
    );
    await erase(worker, labels);
    const action = await money.db('operator_actions').where({ id: actionId }).first();
    assert.deepEqual(
      [action?.reason, action?.request, action?.result],
      ['erased', { kind: 'refund', amountCents: 5 }, { seq: 1 }],
    );
    assert.equal(await money.db('rental_labels').where({ user_id: userId }).first(), undefined);
  });

  it('lets it write nothing else', async () => {
    const guarded = { constraint: 'audit_events_stay' };
    await assert.rejects(erase(worker, ofEvent(`details = '{"name": "b"}'`)), guarded);
    await assert.rejects(erase(worker, ofEvent(`details = '{"name": "a", "more": 1}'`)), guarded);
    for (const columns of [`reason = 'she wrote'`, `request = request || '{"amountCents": 500}'`])
      await assert.rejects(erase(worker, ofAction(columns)), { constraint: 'operator_actions_stay' });
  });

  it('lets it touch nobody whose closing has not come so far', async () => {
    await money.db('account_closings').where({ user_id: userId }).update({ state: 'returning' });
    await assert.rejects(erase(worker, ofEvent('details = null')), { constraint: 'audit_events_stay' });
    await assert.rejects(erase(worker, ofAction(`reason = 'erased'`)), {
      constraint: 'operator_actions_stay',
    });
    await assert.rejects(erase(worker, labels), { constraint: 'rental_labels_stay' });
  });

  it('lets no other role past them, whatever it may write', async () => {
    await assert.rejects(erase(ops, ofEvent('client_address = null')), { constraint: 'audit_events_stay' });
    await money.db.raw('grant update (reason) on operator_actions to gpu_rental_ops');
    await money.db.raw('grant delete on rental_labels to gpu_rental_ops');
    await assert.rejects(erase(ops, ofAction(`reason = 'erased'`)), { constraint: 'operator_actions_stay' });
    await assert.rejects(erase(ops, labels), { constraint: 'rental_labels_stay' });
  });
});
