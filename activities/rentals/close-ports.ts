import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import { recordAction } from '../../adapters/postgres/operators/operator-actions.js';
import { insertStopRequest } from '../../adapters/postgres/rentals/stop-requests.js';
import { mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { signalRental } from '../../adapters/temporal/signal-workflow.js';
import type { OperationId, RentalId } from '../../domain/ids.js';
import { portsClosedMail } from '../../domain/mails/rentals.js';
import { Refusal } from '../../domain/refusal.js';
import {
  endOf,
  endOrder,
  lockOrder,
  operationOf,
  refuseOrder,
  type OrderOutcome,
} from '../../money/operations/orders.js';
import { findRental } from '../../money/rentals/rentals.js';
import type { ActivityDeps } from '../deps.js';

/**
 * Closes the public ports of a rental, as an operator's order asks (decision 184, "Ports closed by operators"): no
 * upstream closes a port of a machine that runs, so its billing and then its machine are ended, as by a stop. One
 * transaction asks for the end, tells the renter, and keeps who did it. A rental without public ports, or whose billing
 * has ended, is recorded in the order as refused.
 */
export async function closePorts(deps: ActivityDeps, operationId: OperationId): Promise<OrderOutcome> {
  try {
    const rentalId = await deps.db.transaction((trx) => closeByOrder(trx, operationId));
    // Its workflow, and the tick, find the request by themselves as well.
    await signalRental(deps.temporal.workflow, rentalId);
    return { outcome: 'done' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuseOrder(deps.db, operationId, error);
  }
}

async function closeByOrder(trx: Transaction, operationId: OperationId): Promise<RentalId> {
  const order = await lockOrder(trx, operationId);
  const { request: action, reason } = order;
  if (action.kind !== 'close_ports') throw new Error(`${operationId} is a ${action.kind}`);
  const { rentalId } = action;
  // Another attempt of this activity was faster.
  if (endOf(order)) return rentalId;
  const rental = await findRental(trx, rentalId);
  if (!rental) throw new Refusal('rental_not_found', `There is no rental ${rentalId}.`);
  const ports = publicPortsOf(rental);
  await insertStopRequest(trx, rental.no, 'operator', reason);
  const { user_id: userId } = rental;
  await recordEvent(trx, { type: 'rental.ports_closed', userId, entityId: rentalId, data: { ports } });
  const message = portsClosedMail({ rentalId, name: rental.name, ports, reason });
  await mailUser(trx, userId, { kind: 'operation', operationId }, message);
  const audited = { entityId: operationId, details: { action: action.kind } };
  await insertAuditEvent(trx, { userId, kind: 'changed_by_operator', ...audited });
  const result = { rentalId, was: rental.status, ports: ports.join(', ') };
  await recordAction(trx, operationOf(order, action), result);
  await endOrder(trx, operationId, result);
  return rentalId;
}

/** @throws Refusal when there is nothing to close */
function publicPortsOf({ id, status, settled_at: settledAt, software }: RentalRow): string[] {
  if (settledAt !== null) {
    throw new Refusal('already_stopped', `${id} is ${status}: its machine is ended, and its ports with it.`);
  }
  const names = (software?.ports ?? []).filter((port) => port.public).map(({ name }) => name);
  if (names.length > 0) return names;
  throw new Refusal(
    'validation_failed',
    `${id} has no public port. To end it all the same: ops rentals stop ${id}.`,
  );
}
