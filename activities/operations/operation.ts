import { findOrder } from '../../adapters/postgres/operators/operator-orders.js';
import { operate } from '../../money/operations/operations.js';
import { beginRefunds } from '../../money/operations/refund-rentals.js';
import type { OrderOutcome } from '../../money/operations/orders.js';
import type { OperationId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import type { OperationInput } from '../../workflows/contracts/operation.js';
import type { ActivityDeps } from '../deps.js';
import { ONE_CALL_MS, withHeartbeat } from '../heartbeat.js';
import { singleLimitOf } from './refund-rentals.js';
import { answeringRefusals } from '../refusals.js';
import { closePorts } from '../rentals/close-ports.js';
import { terminateRental } from '../rentals/terminate-rental.js';

/** The activity of operators' orders. */
export function createOperationActivities(deps: ActivityDeps) {
  return {
    /**
     * Does what an operator's order asks for, once, in one transaction with its record. An order that refunds many is
     * only begun by it. Anybody who reaches Temporal can name an order, and no more: the row says who, what and how
     * much (decision 87, "Operator orders").
     * @throws ApplicationFailure with the code of a refusal when there is no such order
     */
    async operate(input: OperationInput): Promise<OrderOutcome> {
      return withHeartbeat(
        () =>
          answeringRefusals(async () => {
            const outcome = await act(deps, input.operationId);
            deps.log.info({ ...input, ...outcome }, 'an operator’s order was looked at');
            return outcome;
          }),
        { stalledAfterMs: ONE_CALL_MS },
      );
    },
  };
}

async function act(deps: ActivityDeps, operationId: OperationId): Promise<OrderOutcome> {
  const order = await findOrder(deps.db, operationId);
  switch (order?.kind) {
    case undefined:
      throw new Refusal('not_found', `There is no order ${operationId}.`);
    case 'terminate_rental':
      return terminateRental(deps, operationId);
    case 'close_ports':
      return closePorts(deps, operationId);
    case 'reconcile_restored':
      throw new Refusal('validation_failed', `${operationId} is done by the workflow restore.`);
    case 'refund_rentals':
      return beginRefunds(deps.db, operationId, singleLimitOf(deps));
    default:
      return operate(deps.db, operationId, singleLimitOf(deps));
  }
}
