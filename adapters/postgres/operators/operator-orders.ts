import { isDeepStrictEqual } from 'node:util';
import type { OperationId } from '../../../domain/ids.js';
import type { OrderedAction } from '../../../domain/operations/operation.js';
import { Refusal } from '../../../domain/refusal.js';
import type { Database, Transaction } from '../database.js';
import { refuseWhenTextUnfit } from './operator-actions.js';
import type { OperatorOrderRow } from '../rows/tables.js';

/** An operator's request. The database tells who they are, by their login (decision 87, "Operator orders"). */
export interface NewOrder {
  readonly id: OperationId;
  readonly action: OrderedAction;
  readonly reason: string;
  /** The name that they give, kept beside it. */
  readonly saidBy: string;
  /** The rentals to refund, in an order of many; their sum is the action's amount. */
  readonly items?: readonly OrderedItem[];
}

/** One rental of an order of many, and the most that it gets. */
export interface OrderedItem {
  readonly rentalNo: number;
  readonly amountCents: number;
}

/**
 * Writes down an operator's order, once per id: a repetition gets the row of the first one.
 * @throws Refusal when the reason is missing, or the id was used for something else
 */
export async function requestOrder(
  db: Database,
  { id, action, reason, saidBy, items = [] }: NewOrder,
): Promise<OperatorOrderRow> {
  refuseWhenTextUnfit('The reason', reason);
  await db.transaction(async (trx) => {
    const inserted = await trx('operator_orders')
      .insert({ id, kind: action.kind, request: JSON.stringify(action) as never, reason, said_by: saidBy })
      .onConflict('id')
      .ignore()
      .returning('id');
    if (inserted.length > 0 && items.length > 0) await insertItems(trx, id, items);
  });
  const order = await getOrder(db, id);
  if (isDeepStrictEqual(order.request, action)) return order;
  throw new Refusal(
    'idempotency_conflict',
    `${id} was used for something else. Leave out the id to get a new one.`,
  );
}

async function insertItems(
  trx: Transaction,
  orderId: OperationId,
  items: readonly OrderedItem[],
): Promise<void> {
  await trx.raw(
    `insert into operator_order_items (order_id, rental_no, amount_cents)
     select :orderId, rental_no, amount_cents
       from unnest(:rentalNos::bigint[], :amounts::bigint[]) as i (rental_no, amount_cents)`,
    {
      orderId,
      rentalNos: items.map(({ rentalNo }) => rentalNo),
      amounts: items.map(({ amountCents }) => amountCents),
    },
  );
}

/** Reads an order. @throws Refusal when there is none */
export async function getOrder(db: Database, id: OperationId): Promise<OperatorOrderRow> {
  const order = await findOrder(db, id);
  if (order) return order;
  throw new Refusal('not_found', `There is no order ${id}: see ops orders list.`);
}

/** Finds an order; undefined when there is none. */
export async function findOrder(db: Database, id: OperationId): Promise<OperatorOrderRow | undefined> {
  return db('operator_orders').where({ id }).first();
}

/**
 * Lists orders, the newest first.
 * @param open only those that nobody has done, refused or rejected
 */
export async function listOrders(db: Database, open: boolean, limit: number): Promise<OperatorOrderRow[]> {
  const query = db('operator_orders').orderBy('requested_at', 'desc').limit(limit);
  if (open) void query.whereNull('closed_at');
  return query;
}

/**
 * Sums up, in cents, the other orders of an order's login that count with it (decision 87, "Operator orders"): those
 * that ended in the last 24 hours, those that have begun, and those that were asked for in the last 24 hours before it
 * and still wait. What a second operator approved does not count: nobody moved it alone. An order that was rejected or
 * refused counts by what it gave before: nothing, unless it refunds many. One about an invoice counts by its amount. Call it under the lock of the login.
 */
export async function sumOtherOrders(
  trx: Transaction,
  { id, requested_by: login, requested_at: at }: OperatorOrderRow,
): Promise<number> {
  const { rows } = await trx.raw<{ rows: { cents: number }[] }>(
    `select coalesce(sum(case when o.status in ('rejected', 'refused')
                then (select sum(i.refunded_cents) from operator_order_items i where i.order_id = o.id)
                else abs(coalesce(o.amount_cents, v.amount_cents)) end), 0)::bigint as cents
       from operator_orders o left join invoices v on v.id = o.request ->> 'invoiceId'
      where o.requested_by = :login and o.approved_by is null and o.id <> :id and case
        when o.closed_at is not null then o.closed_at > clock_ms() - interval '24 hours'
        else (o.requested_at > clock_ms() - interval '24 hours' and (o.requested_at, o.id) < (:at, :id))
             or exists (select 1 from operator_actions a where a.id = o.id) end`,
    { id, login, at },
  );
  return rows[0]?.cents ?? 0;
}

/**
 * Approves another operator's order, so that it may be done above the limit of one operator. A second approval changes
 * nothing.
 * @throws Refusal for one's own order, for a login that is not one operator's own, and for an order that has ended
 */
export async function approveOrder(db: Database, id: OperationId): Promise<OperatorOrderRow> {
  const login = await readLogin(db);
  const order = await getOrder(db, id);
  if (order.approved_by === login) return order;
  if (order.closed_at !== null) throw ended(order);
  if (order.requested_by === login) {
    throw new Refusal('forbidden', `${id} is your own order (${login}). Another operator must approve it.`);
  }
  for (const who of [login, order.requested_by]) {
    if (nameOfLogin(who) === undefined) {
      throw new Refusal(
        'forbidden',
        `${who} is a shared login. Two operators request and approve an order, each with their own login (ops login add).`,
      );
    }
  }
  await db('operator_orders').where({ id, status: 'requested' }).update({ status: 'approved' });
  return getOrder(db, id);
}

/**
 * Rejects an order that is not done; its own operator may do so too.
 * @throws Refusal when it has ended
 */
export async function rejectOrder(db: Database, id: OperationId, why: string): Promise<OperatorOrderRow> {
  refuseWhenTextUnfit('The reason', why);
  const order = await getOrder(db, id);
  if (order.closed_at !== null) throw ended(order);
  await db('operator_orders')
    .where({ id })
    .whereNull('closed_at')
    .update({ status: 'rejected', rejected_why: why });
  return getOrder(db, id);
}

/** Names the operators who asked for an order and who approved it, for people to read. */
export function operatorsOf(order: OperatorOrderRow): string {
  const asked = nameOfLogin(order.requested_by) ?? `${order.said_by ?? '?'} (${order.requested_by})`;
  if (order.approved_by === null) return asked;
  return `${asked}, approved by ${nameOfLogin(order.approved_by) ?? order.approved_by}`;
}

/** Returns the operator of a login; undefined for a login that several may share. */
export function nameOfLogin(login: string): string | undefined {
  return login.startsWith(OWN_LOGIN) ? login.slice(OWN_LOGIN.length) : undefined;
}

/** The prefix of one operator's login (migrations/logins.ts). */
const OWN_LOGIN = 'operator_';

/** Reads the login of the connection, by the database's word. */
export async function readLogin(db: Database): Promise<string> {
  const { rows } = await db.raw<{ rows: { login: string }[] }>('select session_user as login');
  if (!rows[0]) throw new Error('the database does not tell whose connection it is');
  return rows[0].login;
}

function ended({ id, status }: OperatorOrderRow): Refusal {
  return new Refusal('validation_failed', `${id} is already ${status}.`);
}
