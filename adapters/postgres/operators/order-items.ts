import type { OperationId, RentalId, UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import { isNotWaiting } from '../upkeep/stuck-items.js';

/** SQL for the name under which a failing item is counted, over `i` (operator_order_items) and `r` (rentals). */
const stuckKey = `i.order_id || ' ' || r.id`;

/** An item of an order that is to be done. */
export interface OpenItem {
  readonly rentalNo: number;
  readonly rentalId: RentalId;
}

/** Returns the name under which a failing item is counted and set aside. */
export function itemKey(orderId: OperationId, { rentalId }: OpenItem): string {
  return `${orderId} ${rentalId}`;
}

/** Lists the items of an order that are not done, without those that failed and wait for their next try. */
export async function listOpenItems(db: Database, orderId: OperationId, limit: number): Promise<OpenItem[]> {
  const { rows } = await db.raw<{ rows: OpenItem[] }>(
    `select i.rental_no as "rentalNo", r.id as "rentalId"
       from operator_order_items i join rentals r on r.no = i.rental_no
      where i.order_id = :orderId and i.done_at is null and ${isNotWaiting('refund', stuckKey)}
      order by i.rental_no limit :limit`,
    { orderId, limit },
  );
  return rows;
}

/** The progress of an order of many; amounts in cents. */
export interface OrderProgress {
  readonly rentals: number;
  readonly done: number;
  readonly refundedCents: number;
  /** Those whose last try failed. */
  readonly failing: number;
  /** Until the first of those is tried again, in milliseconds; null when none failed. */
  readonly nextTryMs: number | null;
}

/** Sums up the items of an order. */
export async function readProgress(db: Database | Transaction, orderId: OperationId): Promise<OrderProgress> {
  const { rows } = await db.raw<{ rows: OrderProgress[] }>(
    `select count(*) as rentals, count(i.done_at) as done, coalesce(sum(i.refunded_cents), 0)::bigint as "refundedCents",
            count(s.item) as failing, min(epoch_ms(s.next_attempt_at)) - epoch_ms(clock_ms()) as "nextTryMs"
       from operator_order_items i join rentals r on r.no = i.rental_no
       left join stuck_items s on s.duty = 'refund' and s.item = ${stuckKey} and i.done_at is null
      where i.order_id = :orderId`,
    { orderId },
  );
  if (!rows[0]) throw new Error(`the items of ${orderId} were not summed up`);
  return rows[0];
}

/** An item as operators read it; amounts in cents. */
export interface ShownItem {
  readonly rentalId: RentalId;
  readonly userId: UserId;
  readonly amountCents: number;
  readonly refundedCents: number | null;
  readonly doneAt: Date | null;
  /** Set for a failing item: how often it failed, why, and when it is tried again. */
  readonly tries: number | null;
  readonly error: string | null;
  readonly nextTryAt: Date | null;
}

/** Lists the items of an order: first those that fail, then the open ones, then those that are done. */
export async function listItems(db: Database, orderId: OperationId): Promise<ShownItem[]> {
  const { rows } = await db.raw<{ rows: ShownItem[] }>(
    `select r.id as "rentalId", r.user_id as "userId", i.amount_cents as "amountCents",
            i.refunded_cents as "refundedCents", i.done_at as "doneAt", s.attempts as tries,
            s.last_error as error, s.next_attempt_at as "nextTryAt"
       from operator_order_items i join rentals r on r.no = i.rental_no
       left join stuck_items s on s.duty = 'refund' and s.item = ${stuckKey} and i.done_at is null
      where i.order_id = :orderId order by s.item, i.done_at nulls first, r.user_id, r.no`,
    { orderId },
  );
  return rows;
}

/** Lists orders of many that were begun and have not ended: each should have a workflow. */
export async function listBegunOrders(db: Database): Promise<OperationId[]> {
  const { rows } = await db.raw<{ rows: { id: OperationId }[] }>(
    `select o.id from operator_orders o join operator_actions a on a.id = o.id
      where o.closed_at is null and o.kind = 'refund_rentals'`,
  );
  return rows.map(({ id }) => id);
}

/** A refund of a rental by an order of many; amounts in cents. */
export interface GivenByOrder {
  readonly operationId: OperationId;
  readonly cents: number;
  readonly at: Date;
}

/** Lists what orders of many gave back for a rental, oldest first. */
export async function listGiven(db: Database | Transaction, rentalNo: number): Promise<GivenByOrder[]> {
  const items = await db('operator_order_items')
    .where({ rental_no: rentalNo })
    .where('refunded_cents', '>', 0)
    .orderBy('done_at');
  return items.map(({ order_id: operationId, refunded_cents: cents, done_at: at }) => {
    if (cents === null || at === null) throw new Error(`an item of ${operationId} gave, and is not done`);
    return { operationId, cents, at };
  });
}
