import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { operate } from '../../../money/operations/operations.js';
import { requestOrder } from '../../../adapters/postgres/operators/operator-orders.js';
import type { OperationId } from '../../../domain/ids.js';
import type { MoneyAction, OrderedAction } from '../../../domain/operations/operation.js';
import { dropOperatorLogin, ensureOperatorLogin, type OperatorLogin } from '../../../migrations/logins.js';

/** The operators of all tests. Each has a login of their own in the tests' server. */
export const testOperators = ['ada', 'bob'] as const;
export type TestOperator = (typeof testOperators)[number];

const password = 'an-operator-of-tests';

/** Makes the operators' logins, once per server. @param databaseUrl the owner's address */
export async function makeTestOperators(databaseUrl: string): Promise<void> {
  const db = openDatabase(databaseUrl, 1, 'test');
  try {
    for (const name of testOperators) await ensureOperatorLogin(db, name, password);
  } finally {
    await db.destroy();
  }
}

/**
 * Opens a database with the login of an operator of the calling test alone: what one moves alone in a day is summed up.
 * @param databaseUrl the owner's address
 */
export async function withNewOperator<T>(
  databaseUrl: string,
  work: (db: Database, login: OperatorLogin) => Promise<T>,
): Promise<T> {
  const owner = openDatabase(databaseUrl, 1, 'test');
  const name = newId('op').toLowerCase();
  const login = await ensureOperatorLogin(owner, name, password);
  const db = openDatabase(urlAs(name, databaseUrl), 10, 'ops');
  try {
    return await work(db, login);
  } finally {
    await db.destroy();
    await dropOperatorLogin(owner, login);
    await owner.destroy();
  }
}

/** The address of the same database with an operator's login. */
export function urlAs(name: string, databaseUrl: string): string {
  return Object.assign(new URL(databaseUrl), { username: `operator_${name}`, password }).toString();
}

/** Writes an order, as the ops command does before it starts the workflow. */
export async function placeOrder(
  db: Database,
  action: OrderedAction,
  { reason = 'a test', id = newId('op') }: { reason?: string; id?: OperationId } = {},
): Promise<OperationId> {
  await requestOrder(db, { id, action, reason, saidBy: 'ada' });
  return id;
}

/** The most that one of the tests' operators may move alone, in cents. */
export const testSingleLimitCents = 50_000;

/** Writes an order and carries it out at once, as the worker's activity does. @returns the order's id */
export async function operateNow(
  db: Database,
  action: MoneyAction,
  more: { reason?: string; id?: OperationId } = {},
): Promise<OperationId> {
  const id = await placeOrder(db, action, more);
  assert.deepEqual(await operate(db, id, testSingleLimitCents), { outcome: 'done' });
  return id;
}
