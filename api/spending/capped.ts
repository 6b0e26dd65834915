import { Refusal } from '../../domain/refusal.js';
import { onlyOf, type ApiContext } from '../context.js';

/**
 * Refuses the books and the audit trail of a whole account to a key with a cap: it sees what it rented itself (decision 109, "Caps and
 * budgets").
 * @throws Refusal session_required
 */
export function refuseWhenCapped(ctx: ApiContext): void {
  if (onlyOf(ctx) === undefined) return;
  throw new Refusal(
    'session_required',
    'This API key has a cap, and sees its own rentals alone, and their bills: GET /v1/billing/ledger?rentalId=… shows one. Sign in for all else.',
  );
}
