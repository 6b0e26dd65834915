import type { RentalFailure } from '../../domain/events/events.js';
import type { StopReason } from '../../domain/rentals/rental.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import { costOf, failureOf } from '../../adapters/postgres/rentals/facts.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';

type Whose = Pick<RentalRow, 'id' | 'user_id'>;

/**
 * Tells that the billing of a rental has ended, in the transaction that writes its end. Only the step into the state
 * `stopping` is told: whoever corrects an end afterwards tells it by the event of the settling.
 */
export async function tellStopping(
  trx: Transaction,
  rental: Whose,
  end: { readonly reason: StopReason; readonly at: Date },
): Promise<void> {
  await recordEvent(trx, {
    type: 'rental.stopping',
    ...ofRental(rental),
    data: { reason: end.reason, stoppedAt: end.at.toISOString() },
  });
  if (end.reason !== 'balance_exhausted') return;
  await recordEvent(trx, {
    type: 'wallet.exhausted',
    userId: rental.user_id,
    entityId: rental.user_id,
    data: { rentalIds: [rental.id] },
  });
}

/**
 * Tells that a rental is settled, in the transaction that settles it.
 * @param rental as it was settled
 */
export async function tellStopped(trx: Transaction, rental: RentalRow): Promise<void> {
  const { stop_reason: reason, ended_at: endedAt } = rental;
  if (reason === null || endedAt === null) throw new Error(`${rental.id} is settled without an end`);
  const cents = costOf(rental);
  await recordEvent(trx, {
    type: 'rental.stopped',
    ...ofRental(rental),
    data: { reason, stoppedAt: endedAt.toISOString(), ...cents },
  });
  if (reason !== 'user') await auditEnd(trx, rental, { reason, ...cents });
}

/**
 * Tells that a rental failed and that all of its money was given back, in the transaction that does so.
 * @param rental as it was settled
 */
export async function tellFailed(trx: Transaction, rental: RentalRow): Promise<void> {
  const code = failureOf(rental);
  const message = rental.error ?? '';
  const cents = costOf(rental);
  await recordEvent(trx, {
    type: 'rental.failed',
    ...ofRental(rental),
    data: { code, message, refundedCents: cents.refundedCents },
  });
  await auditEnd(trx, rental, { reason: code, ...cents });
}

/** Writes into the audit trail what ended without its user's request (decision 59, "The audit trail"). */
async function auditEnd(
  trx: Transaction,
  { id, user_id: userId }: Whose,
  details: ReturnType<typeof costOf> & { readonly reason: StopReason | RentalFailure },
): Promise<void> {
  await insertAuditEvent(trx, { userId, kind: 'rental_ended', entityId: id, details });
}

function ofRental({ id, user_id: userId }: Whose) {
  return { userId, entityId: id };
}
