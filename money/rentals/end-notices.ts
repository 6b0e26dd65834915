import type { Transaction } from '../../adapters/postgres/database.js';
import { noteForUser } from '../../adapters/postgres/notices/user-notices.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { endNoticeOf, type EndKind } from '../../domain/notices/notices.js';

/**
 * Notes that a rental was settled that its user did not stop (decision 103, "Notices by mail"). The settling transaction calls
 * it: only then is it known what the machine cost, and whether it was lost before anything else ended it.
 * @param rental as it is written now, with what was charged and given back
 */
export async function noteEnd(trx: Transaction, rental: RentalRow): Promise<void> {
  const kind = kindOf(rental);
  if (kind === undefined) return;
  await noteForUser(trx, {
    userId: rental.user_id,
    kind,
    cause: { kind: 'rental_ended', rentalId: rental.id },
    facts: {
      rentalId: rental.id,
      name: rental.name,
      gpuCount: rental.gpu_count,
      model: rental.model,
      chargedCents: rental.charged_cents - rental.refunded_cents,
      error: rental.error,
    },
  });
}

function kindOf({ status, running_at, stop_reason }: RentalRow): EndKind | undefined {
  // A machine that was lost within its first minute is a failure, and free.
  if (status === 'failed') return running_at === null ? 'rental_failed' : 'rental_lost';
  return stop_reason === null ? undefined : endNoticeOf(stop_reason);
}
