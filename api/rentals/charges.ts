import * as declared from './describe-costs.js';
import { serve, type Handler } from '../http/serve.js';
import {
  sumCharges,
  type ChargeBucket,
  type ChargeInterval,
} from '../../adapters/postgres/ledger/rental-charges.js';
import { findRental } from '../../adapters/postgres/rentals/rental-reads.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { isId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { callerOf, onlyOf, type ApiDeps, type ApiRouter } from '../context.js';
import { readQuery } from '../http/validation.js';

/** The route of a rental's charges, by hour or by day: GET /v1/rentals/:id/charges. */
export function rentalChargeRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.showCharges, showCharges(deps));
}

function showCharges(deps: ApiDeps): Handler<typeof declared.showCharges> {
  return async (ctx) => {
    const { interval } = readQuery(ctx, declared.chargesQuery);
    const { userId } = callerOf(ctx);
    const id = ctx.params['id'] ?? '';
    const rental = isId('rent', id) && (await findRental(deps.db, userId, id, onlyOf(ctx)));
    if (!rental)
      throw new Refusal('rental_not_found', 'You have no such rental: GET /v1/rentals lists yours.');
    const buckets = await sumCharges(deps.db, userId, rental.id, interval);
    return presentCharges(rental, interval, buckets);
  };
}

/** A rental's charges, by hour or day. */
export function presentCharges(
  rental: RentalRow,
  interval: ChargeInterval,
  buckets: readonly ChargeBucket[],
) {
  return {
    rentalId: rental.id,
    interval,
    charges: buckets.map(({ from, ...sums }) => ({ from: from.toISOString(), ...sums })),
    totalChargedCents: rental.charged_cents - rental.refunded_cents,
  };
}
