import { isDatabaseAway } from '../../adapters/postgres/availability.js';
import {
  beginRefunds,
  finishRefunds,
  OrderEnded,
  refundItem,
} from '../../money/operations/refund-rentals.js';
import type { OrderOutcome } from '../../money/operations/orders.js';
import {
  itemKey,
  listOpenItems,
  readProgress,
  type OpenItem,
} from '../../adapters/postgres/operators/order-items.js';
import { MINUTE } from '../../domain/durations.js';
import type { OperationId } from '../../domain/ids.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem } from '../each-item.js';
import { ONE_CALL_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { answeringRefusals } from '../refusals.js';

/** How an order of many stands after a pass over its items. */
export type RefundsPass =
  | Exclude<OrderOutcome, { outcome: 'begun' }>
  /** Some items are left; the first of them may be tried after `pauseMs` milliseconds. */
  | { readonly outcome: 'going_on'; readonly done: number; readonly of: number; readonly pauseMs: number };

/** The activity that does the items of an order of many (decision 94, "Refunds of an outage"). */
export function createRefundRentalsActivities(deps: ActivityDeps) {
  return {
    /**
     * Gives each rental of an order what the order says, one after the other, each in a transaction of its own. An item
     * that is done is skipped, and one that fails stops no other (decision 69, "Items that fail"). It returns after a
     * while, so that no history and no attempt grows with the order.
     * @throws ApplicationFailure with the code of a refusal when there is no such order
     */
    async refundRentals(operationId: OperationId): Promise<RefundsPass> {
      return withHeartbeat((tell) => answeringRefusals(() => pass(deps, operationId, tell)), {
        stalledAfterMs: ONE_CALL_MS,
      });
    },
  };
}

/** The most that one operator may move alone, in cents. */
export function singleLimitOf({ settings }: Pick<ActivityDeps, 'settings'>): number {
  return settings.orderSingleLimitCents ?? operationLimits.orderSingleLimitCents;
}

async function pass(deps: ActivityDeps, operationId: OperationId, tell: Tell): Promise<RefundsPass> {
  // The row alone says whether the order may be done, whatever the run was told before (decision 87, "Operator
  // orders").
  const begun = await beginRefunds(deps.db, operationId, singleLimitOf(deps));
  if (begun.outcome !== 'begun') return begun;
  const end = performance.now() + PASS_MS;
  try {
    for (;;) {
      const items = await listOpenItems(deps.db, operationId, ITEMS_AT_ONCE);
      if (items.length === 0) break;
      await refundItems(deps, operationId, items, tell);
      if (performance.now() > end) break;
    }
  } catch (error) {
    if (!(error instanceof OrderEnded)) throw error;
  }
  const outcome = await finishRefunds(deps.db, operationId);
  if (outcome) return outcome;
  const { done, rentals, nextTryMs } = await readProgress(deps.db, operationId);
  const isAnyLeft = (await listOpenItems(deps.db, operationId, 1)).length > 0;
  return { outcome: 'going_on', done, of: rentals, pauseMs: isAnyLeft ? 0 : Math.max(1_000, nextTryMs ?? 0) };
}

async function refundItems(
  deps: ActivityDeps,
  operationId: OperationId,
  items: readonly OpenItem[],
  tell: Tell,
): Promise<void> {
  await eachItem(
    deps,
    {
      duty: 'refund',
      items,
      tell,
      keyOf: (item) => itemKey(operationId, item),
      isOfAll: (error) => Promise.resolve(error instanceof OrderEnded || isDatabaseAway(error)),
    },
    ({ rentalNo }) => refundItem(deps.db, operationId, rentalNo),
  );
}

/**
 * How long a pass goes on, and after how many items it looks at the time. Each item may wait 5 s for its wallet's lock.
 */
const PASS_MS = MINUTE;
const ITEMS_AT_ONCE = 25;
