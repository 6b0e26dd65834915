import { countRentals, listRentals as listRentalRows } from '../../adapters/postgres/rentals/rental-list.js';
import { findRental } from '../../adapters/postgres/rentals/rental-reads.js';
import { isId } from '../../domain/ids.js';
import { callerOf, keyIdOf, onlyOf, type ApiDeps, type ApiRouter } from '../context.js';
import { pageOf } from '../http/cursor.js';
import { onlyMade } from '../http/idempotency.js';
import { serve, type Handler } from '../http/serve.js';
import * as declared from './describe-list.js';
import { placeAfter, readRentalsQuery } from './list-query.js';
import { presentRental } from './present.js';
import { rentalsEndpoint } from './request.js';

/** The route that lists rentals: GET /v1/rentals (decision 143, "Sorted rentals"). */
export function listRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listRentals, listRentals(deps));
}

function listRentals({ db }: ApiDeps): Handler<typeof declared.listRentals> {
  return async (ctx) => {
    const { userId } = callerOf(ctx);
    const key = onlyOf(ctx);
    const asked = await readRentalsQuery(ctx, async (id) => (await findRental(db, userId, id, key))?.no);
    const { idempotencyKey, ids, sort, after, pageSize } = asked;
    const made = await onlyMade(ctx, db, rentalsEndpoint, idempotencyKey);
    const onlyIds =
      made === undefined
        ? ids
        : [made].filter((id) => isId('rent', id)).filter((id) => ids?.includes(id) ?? true);
    const { label, search, mine } = asked;
    const openedBy = mine ? (keyIdOf(ctx) ?? null) : undefined;
    const counted = { label, search, onlyOf: key, openedBy, onlyIds };
    const filter = { ...counted, status: asked.status, live: asked.live };
    const [rows, counts] = await Promise.all([
      listRentalRows(db, userId, filter, { sort, after, limit: pageSize + 1 }),
      asked.counts ? countRentals(db, userId, counted) : undefined,
    ]);
    const { page, nextCursor } = pageOf(rows, pageSize, (row) => placeAfter(sort, row));
    return { rentals: page.map(presentRental), ...(counts && { counts }), nextCursor };
  };
}
