import * as declared from './describe.js';
import { noSuchThing } from '../http/not-found.js';
import { serve, type Handler } from '../http/serve.js';
import { readOfferHistory, type OfferHour } from '../../adapters/postgres/catalog/offer-history.js';
import { isFamilyId } from '../../domain/catalog/families.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import { countriesOf } from '../../domain/catalog/regions.js';
import type { ApiDeps, ApiRouter } from '../context.js';
import { readQuery } from '../http/validation.js';

/**
 * The route of what a family cost before: GET /v1/catalog/families/:id/history (decision 106, "Progress and
 * reliability").
 */
export function offerHistoryRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.showFamilyHistory, showHistory(deps));
}

function showHistory(deps: ApiDeps): Handler<typeof declared.showFamilyHistory> {
  return async (ctx) => {
    const { region } = readQuery(ctx, declared.historyQuery);
    const familyId = knownFamily(ctx.params['id']);
    const hours = await readOfferHistory(deps.db, {
      familyId,
      regionCodes: region === undefined ? undefined : countriesOf(region),
      days: catalogLimits.historyDays,
    });
    return presentHistory(familyId, hours);
  };
}

/**
 * Returns the family of a path.
 * @throws Refusal not_found
 */
export function knownFamily(id: string | undefined): string {
  if (id !== undefined && isFamilyId(id)) return id;
  throw noSuchThing('There is no such GPU family: GET /v1/catalog/families lists them.');
}

/** The hours of a family, oldest first. */
export function presentHistory(familyId: string, hours: readonly OfferHour[]) {
  return { familyId, points: hours.map(({ at, ...hour }) => ({ at: at.toISOString(), ...hour })) };
}
