import { findRental, type RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { isId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { callerOf, onlyOf, type ApiContext, type ApiDeps } from '../context.js';

/**
 * The rental that the path names.
 * @throws Refusal rental_not_found for another user's, and to a key with a cap for one that it did not open
 */
export async function getRental(ctx: ApiContext, deps: ApiDeps): Promise<RentalWithHealth> {
  const id = ctx.params['id'] ?? '';
  const { userId } = callerOf(ctx);
  const row = isId('rent', id) && (await findRental(deps.db, userId, id, onlyOf(ctx), ctx.state.ahead));
  if (!row) throw noSuchRental();
  return row;
}

export function noSuchRental(): Refusal {
  return new Refusal('rental_not_found', 'You have no such rental: GET /v1/rentals lists yours.');
}
