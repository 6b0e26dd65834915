import { Refusal } from '../../domain/refusal.js';
import { onlyOf, type ApiState } from '../context.js';

/**
 * The routes at which a key with a cap sees what is its own, if it has their scope (decision 109, "Caps and budgets").
 * Every other route is closed to it: a new one is opened here on purpose.
 */
export const openToCapped: ReadonlySet<string> = new Set([
  'GET /v1/auth/me',
  'GET /v1/catalog/families',
  'GET /v1/catalog/families/:id/history',
  'GET /v1/catalog/listings',
  'GET /v1/catalog/templates',
  'GET /v1/events',
  'GET /v1/events/stream',
  'GET /v1/rentals',
  'GET /v1/rentals/:id',
  'GET /v1/rentals/:id/charges',
  'GET /v1/rentals/:id/endpoints/:name/token',
  'GET /v1/rentals/:id/meter',
  'GET /v1/rentals/:id/telemetry',
  'PATCH /v1/rentals/:id',
  'POST /v1/quotes',
  'POST /v1/rentals',
  'POST /v1/rentals/:id/keep-alive',
  'POST /v1/rentals/:id/stop',
  'GET /v1/billing/balance',
  'GET /v1/billing/config',
  'GET /v1/billing/ledger',
  'GET /v1/billing/ledger/:id/explain',
  'GET /v1/billing/topups',
  'GET /v1/billing/topups/:id',
  'POST /v1/billing/checkout',
]);

/**
 * Refuses a route to a key with a cap that is not open to it.
 * @param route the pattern of its path
 * @throws Refusal session_required
 */
export function refuseClosedToCapped(
  ctx: { readonly state: ApiState; readonly method: string },
  route: string,
): void {
  const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
  if (!openToCapped.has(`${method} ${route}`)) refuseWhenCapped(ctx);
}

/**
 * Refuses what is a whole account's to a key with a cap: it sees what it rented and paid itself.
 * @throws Refusal session_required
 */
export function refuseWhenCapped(ctx: { readonly state: ApiState }): void {
  if (onlyOf(ctx) === undefined) return;
  throw new Refusal(
    'session_required',
    'This API key has a cap, so it sees only its own rentals and their bills: GET /v1/billing/ledger?rentalId=… shows one. Sign in for everything else.',
  );
}
