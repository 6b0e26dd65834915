import { moveAttempt } from '../../adapters/postgres/machines/attempts.js';
import { findRental } from '../../money/rentals/rentals.js';
import {
  endOf,
  endOrder,
  lockOrder,
  operationOf,
  refuseOrder,
  type OrderOutcome,
} from '../../money/operations/orders.js';
import { recordAction } from '../../adapters/postgres/operators/operator-actions.js';
import { getOrder } from '../../adapters/postgres/operators/operator-orders.js';
import { recordPodGone } from '../../adapters/postgres/machines/pods.js';
import { insertStopRequest } from '../../adapters/postgres/rentals/stop-requests.js';
import type { AllocationAttemptRow } from '../../adapters/postgres/rows/tables.js';
import { signalRental } from '../../adapters/temporal/signal-workflow.js';
import type { OperationId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import type { ActivityDeps } from '../deps.js';
import { endMachines } from './end-machines.js';

/**
 * Ends a rental by force, as an operator's order asks. Its billing ends as by a stop, and every machine that was bought
 * for it is told to end now, whatever its workflow waits for. With `acceptGone` no upstream is asked: an operator has
 * seen that the machines are gone, for example because the upstream is not configured any more. A machine that is
 * listed again all the same is swept (decision 22, "Machines of nobody"). A rental that is closed or does not exist is
 * recorded in the order as refused.
 */
export async function terminateRental(deps: ActivityDeps, operationId: OperationId): Promise<OrderOutcome> {
  try {
    return await terminateByOrder(deps, operationId);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuseOrder(deps.db, operationId, error);
  }
}

async function terminateByOrder(deps: ActivityDeps, operationId: OperationId): Promise<OrderOutcome> {
  const order = await getOrder(deps.db, operationId);
  const end = endOf(order);
  if (end) return end;
  const { request: action } = order;
  if (action.kind !== 'terminate_rental') throw new Error(`${operationId} is a ${action.kind}`);
  const { rentalId, acceptGone } = action;
  const rental = await findRental(deps.db, rentalId);
  if (!rental) throw new Refusal('rental_not_found', `There is no rental ${rentalId}.`);
  if (rental.closed_at !== null) {
    throw new Refusal('already_stopped', `${rentalId} is ${rental.status}, and its machines are gone.`);
  }
  await insertStopRequest(deps.db, rental.no, 'operator', order.reason);
  const ended = await endMachines(deps, rentalId, acceptGone ? giveUp : undefined);
  const result = { rentalId, was: rental.status, ...ended };
  await deps.db.transaction(async (trx) => {
    const locked = await lockOrder(trx, operationId);
    // Another attempt of this activity may have been faster; both did the same.
    if (endOf(locked)) return;
    await recordAction(trx, operationOf(locked, action), result);
    await endOrder(trx, operationId, result);
  });
  await signalRental(deps.temporal.workflow, rentalId);
  return { outcome: 'done' };
}

async function giveUp({ db }: ActivityDeps, attempt: AllocationAttemptRow): Promise<string> {
  const { provider_code: providerCode, pod_id: podId, tag } = attempt;
  await moveAttempt(db, attempt.id, attempt.state, 'gone');
  await recordPodGone(db, providerCode, tag);
  return `${providerCode} ${podId ?? tag} counts as gone`;
}
