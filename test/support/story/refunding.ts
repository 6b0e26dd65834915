import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { readAffected } from '../../../adapters/postgres/operators/affected-rentals.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { beginRefunds, finishRefunds, refundItem } from '../../../money/operations/refund-rentals.js';
import { requestOrder } from '../../../adapters/postgres/operators/operator-orders.js';
import { listItems } from '../../../adapters/postgres/operators/order-items.js';
import type { WalletRow } from '../../../adapters/postgres/rows/tables.js';
import type { OperationId, RentalId } from '../../../domain/ids.js';
import type { RefundRentalsAction } from '../../../domain/operations/operation.js';
import type { TimeWindow } from '../../../domain/metering/window-charge.js';
import { testSingleLimitCents } from '../ops/operators.js';

/**
 * Orders the refund of a window at the upstream "lab", as `ops affected refund` does, for these rentals alone.
 * @param more.cents the most that each gets; default: the rest of its charge for the window
 */
export async function orderAffected(
  db: Database,
  window: TimeWindow,
  ids: readonly RentalId[],
  { cents, id = newId('op') }: { cents?: readonly number[]; id?: OperationId } = {},
): Promise<OperationId> {
  const affected = await readAffected(db, 'lab', window, 100_000);
  const items = ids.map((wanted, i) => {
    const rental =
      affected.find(({ rentalId }) => rentalId === wanted) ?? assert.fail(`${wanted} is not affected`);
    return { rentalNo: rental.no, amountCents: cents?.[i] ?? rental.refundableCents };
  });
  const action: RefundRentalsAction = {
    kind: 'refund_rentals',
    ...{ providerCode: 'lab', rentals: items.length },
    ...{ from: window.from.toISOString(), to: window.to.toISOString() },
    amountCents: items.reduce((sum, item) => sum + item.amountCents, 0),
  };
  await requestOrder(db, { id, action, reason: 'an outage', saidBy: 'ada', items });
  return id;
}

/** Carries out an order item by item, as the worker's activity does. @returns the cents that each rental got */
export async function carryOutOrder(
  worker: Database,
  orderId: OperationId,
): Promise<Map<RentalId, number | null>> {
  assert.deepEqual(await beginRefunds(worker, orderId, testSingleLimitCents), { outcome: 'begun' });
  for (const { rental_no } of await worker('operator_order_items').where({ order_id: orderId })) {
    await refundItem(worker, orderId, rental_no);
  }
  assert.deepEqual(await finishRefunds(worker, orderId), { outcome: 'done' });
  return readGiven(worker, orderId);
}

/** The cents that each rental of an order got; null where its item is not done. */
export async function readGiven(db: Database, orderId: OperationId): Promise<Map<RentalId, number | null>> {
  const items = await listItems(db, orderId);
  return new Map(items.map(({ rentalId, refundedCents }) => [rentalId, refundedCents]));
}

/**
 * Rentals of one wallet that ran for ten minutes, ended half an hour ago and cost 60 cents each, with their entries, as
 * if they had been metered and settled long ago.
 */
export async function insertSettled(db: Database, wallet: WalletRow, count: number): Promise<void> {
  await db.transaction(async (trx) => {
    const ids = Array.from({ length: count }, () => newId('rent'));
    const { rows } = await trx.raw<{ rows: { no: number }[] }>(
      `insert into rentals (id, wallet_id, user_id, status, family, model, gpu_count, region, region_code, interconnect,
         template_id, ssh_key_ids, listing_id, provider_code, tag, price_per_hour_cents, hold_cents, charged_cents,
         released_cents, started_at, running_at, ended_at, settled_at, closed_at, stop_reason, opened_seq, settled_seq)
       select id, :walletId::bigint, :userId, 'stopped', 'rtx-4090', 'RTX_4090', 1, 'Oslo', 'NO', 'pcie', 'ubuntu-24-04', '{}',
         'lst_x', 'lab', 'test-' || id, 360, 0, 60, 300, c.at, c.at, c.at + interval '10 minutes',
         c.at + interval '10 minutes', c.at + interval '10 minutes', 'user', :seq::bigint, :seq::bigint + :count::int
       from unnest(:ids::text[]) as i (id), (select clock_ms() - interval '40 minutes' as at) c returning no`,
      { ids, walletId: wallet.id, userId: wallet.user_id, seq: wallet.seq, count },
    );
    const nos = rows.map(({ no }) => no);
    await trx.raw(
      `insert into stop_requests (rental_no, requested_at, requested_by, open)
       select no, ended_at, 'user', false from rentals where no = any (:nos::bigint[])`,
      { nos },
    );
    await trx.raw(
      `with w as (
         update wallets set available_cents = available_cents - 60 * :count::int, seq = seq + :count::int
          where id = :walletId returning id, seq - :count::int as seq, available_cents + reserved_cents + 60 * :count::int as total
       )
       insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
       select w.id, w.seq + i.n, 'rental_charge', -60, w.total - 60 * i.n, i.no, clock_ms()
         from w, unnest(:nos::bigint[]) with ordinality as i (no, n)`,
      { nos, count, walletId: wallet.id },
    );
  });
}
