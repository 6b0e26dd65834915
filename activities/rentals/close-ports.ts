import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import {
  findPortsClosed,
  findRepeated,
  recordAction,
} from '../../adapters/postgres/operators/operator-actions.js';
import { insertStopRequest } from '../../adapters/postgres/rentals/stop-requests.js';
import { mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { signalRental } from '../../adapters/temporal/signal-workflow.js';
import type { OperationId, RentalId } from '../../domain/ids.js';
import { portsClosedMail } from '../../domain/mails/rentals.js';
import type { ClosePortsAction, Operation, OperationResult } from '../../domain/operations/operation.js';
import { Refusal } from '../../domain/refusal.js';
import {
  endOf,
  endOrder,
  lockOrder,
  operationOf,
  refuseOrder,
  type OrderEnd,
  type OrderOutcome,
} from '../../money/operations/orders.js';
import { findRental } from '../../money/rentals/rentals.js';
import type { ActivityDeps } from '../deps.js';
import { endMachines } from './end-machines.js';

/**
 * Closes the public ports of a rental, as an operator's order asks (decision 180, "Ports closed by operators"): no
 * upstream closes a port of a machine that runs, so its billing ends as by a stop, and its machine is told to end now,
 * whatever its workflow waits for. A rental without public ports, whose billing has ended, or whose ports were closed
 * before, is recorded in the order as refused.
 */
export async function closePorts(deps: ActivityDeps, operationId: OperationId): Promise<OrderOutcome> {
  try {
    return await closeByOrder(deps, operationId);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuseOrder(deps.db, operationId, error);
  }
}

async function closeByOrder(deps: ActivityDeps, operationId: OperationId): Promise<OrderEnd> {
  const begun = await deps.db.transaction((trx) => begin(trx, operationId));
  if ('outcome' in begun) return begun;
  const ended = await endMachines(deps, begun.rentalId);
  // Its workflow, and the tick, find the request by themselves as well.
  await signalRental(deps.temporal.workflow, begun.rentalId);
  return deps.db.transaction(async (trx) => {
    const end = endOf(await lockOrder(trx, operationId));
    // Another attempt of this activity was faster, and did the same.
    if (end) return end;
    await endOrder(trx, operationId, { ...begun.result, ...ended });
    return { outcome: 'done' };
  });
}

interface Begun {
  readonly rentalId: RentalId;
  readonly result: OperationResult;
}

/**
 * Begins an order once: its action proves that, and an attempt after it goes on, though the rental may have ended
 * meanwhile.
 * @throws Refusal when there is nothing to close
 */
async function begin(trx: Transaction, operationId: OperationId): Promise<Begun | OrderEnd> {
  const order = await lockOrder(trx, operationId);
  const end = endOf(order);
  if (end) return end;
  const { request: action } = order;
  if (action.kind !== 'close_ports') throw new Error(`${operationId} is a ${action.kind}`);
  const { rentalId } = action;
  const input = operationOf(order, action);
  return { rentalId, result: (await findRepeated(trx, input)) ?? (await requestEnd(trx, input)) };
}

/** Asks for the end of the rental's billing, tells its renter, and keeps who did it. */
async function requestEnd(trx: Transaction, input: Operation<ClosePortsAction>): Promise<OperationResult> {
  const { operationId, reason, action } = input;
  const { rentalId } = action;
  const rental = await findRental(trx, rentalId);
  if (!rental) throw new Refusal('rental_not_found', `There is no rental ${rentalId}.`);
  const ports = publicPortsOf(rental);
  await insertStopRequest(trx, rental.no, 'operator', reason);
  await refuseWhenClosed(trx, rental);
  const { user_id: userId, name, running_at: runningAt } = rental;
  await recordEvent(trx, { type: 'rental.ports_closed', userId, entityId: rentalId, data: { ports } });
  const message = portsClosedMail({ rentalId, name, ports, reason, isBilled: runningAt !== null });
  await mailUser(trx, userId, { kind: 'operation', operationId }, message);
  const audited = { entityId: operationId, details: { action: action.kind } };
  await insertAuditEvent(trx, { userId, kind: 'changed_by_operator', ...audited });
  const result = { rentalId, was: rental.status, ports: ports.join(', ') };
  await recordAction(trx, input, result);
  return result;
}

/** @throws Refusal when there is nothing to close */
function publicPortsOf({ id, status, ended_at: endedAt, software }: RentalRow): string[] {
  if (endedAt !== null) {
    throw new Refusal('already_stopped', `${id} is ${status}: its machine is ended. ${whenStillServed(id)}`);
  }
  const names = (software?.ports ?? []).filter((port) => port.public).map(({ name }) => name);
  if (names.length > 0) return names;
  throw new Refusal(
    'validation_failed',
    `${id} has no public port. To end it all the same: ops rentals stop ${id}.`,
  );
}

/**
 * Refuses a second order for the ports of one rental, which would tell its renter twice. The rental's stop request,
 * which each order has asked for, keeps two orders from passing at once.
 */
async function refuseWhenClosed(trx: Transaction, { id, no }: RentalRow): Promise<void> {
  await trx('stop_requests').where({ rental_no: no }).forUpdate().first();
  const earlier = await findPortsClosed(trx, id);
  if (earlier === undefined) return;
  throw new Refusal('already_stopped', `${earlier} has closed the ports of ${id}. ${whenStillServed(id)}`);
}

function whenStillServed(id: RentalId): string {
  return `Is something still served there? ops rentals force-terminate ${id}.`;
}
