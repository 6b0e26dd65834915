import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import type { OperationId } from '../../domain/ids.js';
import { databaseRoles } from '../../migrations/roles.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';
import { placeOrder, urlAs } from '../support/ops/operators.js';

/** Decision 87, "Operator orders": the database records the operator, and keeps the order as it was placed. */
describe('the table of operators’ orders', () => {
  let database: MoneyDatabase;
  let ada: Database;
  let bob: Database;
  let worker: Database;
  let shared: Database;
  before(async () => {
    database = await openMoneyDatabase();
    [ada, bob] = [
      openDatabase(urlAs('ada', database.url), 2, 'ops'),
      openDatabase(urlAs('bob', database.url), 2, 'ops'),
    ];
    worker = openDatabase(database.url, 2, 'test-worker', databaseRoles.worker);
    shared = openDatabase(database.url, 2, 'ops', databaseRoles.ops);
  });
  after(async () => {
    await Promise.all([ada, bob, worker, shared].map((db) => db.destroy()));
    await database.close();
  });

  async function ordered(by: Database = ada): Promise<OperationId> {
    const { user_id: userId } = await insertWallet(database.db, 0);
    return placeOrder(by, { kind: 'refund', userId, amountCents: 100 });
  }

  const rowOf = async (id: OperationId) => (await database.db('operator_orders').where({ id }).first())!;
  const approve = (db: Database, id: OperationId) =>
    db('operator_orders').where({ id }).update({ status: 'approved' });

  it('takes who asks and who approves from the login', async () => {
    const id = await ordered();
    await approve(bob, id);
    const { requested_by, approved_by, status } = await rowOf(id);
    assert.deepEqual([requested_by, approved_by, status], ['operator_ada', 'operator_bob', 'approved']);
  });

  it('lets no operator say who asks or approves', async () => {
    const id = await ordered();
    const forged = { id: newId('op'), kind: 'refund', reason: 'x', request: '{"kind":"refund"}' };
    for (const column of ['requested_by', 'approved_by', 'status', 'requested_at', 'closed_at']) {
      const value = column.endsWith('_at') ? new Date() : column === 'status' ? 'approved' : 'operator_bob';
      await assert.rejects(
        ada('operator_orders').insert({ ...forged, [column]: value } as never),
        { code: '42501' },
        column,
      );
    }
    for (const column of ['requested_by', 'approved_by', 'rejected_by']) {
      await assert.rejects(
        ada('operator_orders')
          .where({ id })
          .update({ [column]: 'operator_bob' }),
        { code: '42501' },
        column,
      );
    }
  });

  it('writes over what even the owner of the database says of who asks', async () => {
    const { user_id: userId } = await insertWallet(database.db, 0);
    const id = newId('op');
    const request = { kind: 'refund', userId, amountCents: 1 };
    await database.db('operator_orders').insert({
      ...{ id, kind: 'refund', reason: 'x', request: JSON.stringify(request) as never },
      ...{ requested_by: 'operator_bob', status: 'approved', approved_by: 'operator_ada' },
    });
    const { requested_by, approved_by, status } = await rowOf(id);
    assert.deepEqual([requested_by, approved_by, status], ['gpu_rental', null, 'requested']);
  });

  it('refuses that somebody approves their own order', async () => {
    const id = await ordered();
    await assert.rejects(approve(ada, id), { constraint: 'operator_orders_two_people' });
    assert.equal((await rowOf(id)).status, 'requested');
  });

  it('refuses a second person who is nobody in particular', async () => {
    await assert.rejects(approve(shared, await ordered()), { constraint: 'operator_orders_two_people' });
    await assert.rejects(approve(bob, await ordered(shared)), { constraint: 'operator_orders_two_people' });
  });

  it('keeps what was asked for as it was', async () => {
    const id = await ordered();
    const changes = [
      { request: JSON.stringify({ kind: 'refund', amountCents: 1_000_000 }) as never },
      { reason: 'another' },
      { id: newId('op') },
      { said_by: 'bob' },
    ];
    for (const change of changes) {
      await assert.rejects(ada('operator_orders').where({ id }).update(change), { code: '42501' });
      // The worker may write the two that it erases with their user: the guard keeps it from all else.
      const mayErase = 'request' in change || 'reason' in change;
      const denied = mayErase ? { constraint: 'operator_orders_stay' } : { code: '42501' };
      await assert.rejects(worker('operator_orders').where({ id }).update(change), denied);
      await assert.rejects(database.db('operator_orders').where({ id }).update(change), {
        constraint: 'operator_orders_stay',
      });
    }
    for (const statement of ['delete from operator_orders', 'truncate operator_orders cascade']) {
      await assert.rejects(database.db.raw(statement), { constraint: 'operator_orders_stay' });
    }
  });

  it('lets operators decide and the worker do, and neither what is the other’s', async () => {
    const id = await ordered();
    const done = { status: 'done', result: '{}' as never } as const;
    // Operators have no right to write a result, and nothing is done without one.
    await assert.rejects(ada('operator_orders').where({ id }).update(done), { code: '42501' });
    await assert.rejects(ada('operator_orders').where({ id }).update({ status: 'done' }), {
      constraint: 'operator_orders_way',
    });
    await assert.rejects(approve(worker, id), { constraint: 'operator_orders_way' });
    await worker('operator_orders').where({ id }).update(done);
    assert.equal((await rowOf(id)).status, 'done');
  });

  it('ends an order once', async () => {
    const ends = [
      { status: 'done', result: '{}' as never },
      { status: 'refused', code: 'not_found', message: 'x' },
      { status: 'requested' },
    ] as const;
    const id = await ordered();
    await worker('operator_orders').where({ id }).update(ends[0]);
    for (const end of ends) {
      await assert.rejects(worker('operator_orders').where({ id }).update(end), {
        constraint: 'operator_orders_once',
      });
    }
    await assert.rejects(approve(bob, id), { constraint: 'operator_orders_once' });
    const rejected = await ordered();
    await bob('operator_orders').where({ id: rejected }).update({ status: 'rejected', rejected_why: 'no' });
    await assert.rejects(worker('operator_orders').where({ id: rejected }).update(ends[0]), {
      constraint: 'operator_orders_once',
    });
  });

  it('refuses an order without a reason, of another kind than it says, and of parts of cents', async () => {
    const base = { id: newId('op'), kind: 'refund', reason: 'x', request: '{"kind":"refund"}' };
    const refused = [
      [{ reason: ' ' }, '23514'],
      [{ kind: 'adjust' }, '23514'],
      [{ kind: 'mint', request: '{"kind":"mint"}' }, '23514'],
      [{ request: '{"kind":"refund","amountCents":1.5}' }, '22P02'],
    ] as const;
    for (const [change, code] of refused) {
      await assert.rejects(ada('operator_orders').insert({ ...base, ...change } as never), { code });
    }
  });

  it('keeps whose login wrote what an operator did', async () => {
    const id = newId('op');
    await ada('operator_actions').insert({
      ...{ id, kind: 'pause', operator: 'bob', reason: 'x', request: '{}', result: '{}' },
      login: 'operator_bob',
    });
    assert.equal((await database.db('operator_actions').where({ id }).first())?.login, 'operator_ada');
  });
});
