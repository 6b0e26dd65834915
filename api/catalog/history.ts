import * as declared from './describe.js';
import { noSuchThing } from '../http/not-found.js';
import { serve, type Handler } from '../http/serve.js';
import { readOfferHistory, type OfferHour } from '../../adapters/postgres/catalog/offer-history.js';
import { isFamilyId } from '../../domain/catalog/families.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import { countriesOf } from '../../domain/catalog/regions.js';
import type { ApiDeps, ApiRouter } from '../context.js';
import { readQuery } from '../http/validation.js';
import { refuseRegionOf, toStrangers } from './public-prices.js';

/**
 * The route of what a family cost before: GET /v1/catalog/families/:id/history (decision 106, "Progress and
 * reliability").
 */
export function offerHistoryRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.showFamilyHistory, showHistory(deps));
}

function showHistory({ db }: ApiDeps): Handler<typeof declared.showFamilyHistory> {
  const read = async (familyId: string, region?: string) => {
    const regionCodes = region === undefined ? undefined : countriesOf(region);
    const hours = await readOfferHistory(db, { familyId, regionCodes, days: catalogLimits.historyDays });
    return presentHistory(familyId, hours);
  };
  const tell = toStrangers(read);
  return async (ctx) => {
    const { region } = readQuery(ctx, declared.historyQuery);
    refuseRegionOf(ctx, region);
    const familyId = knownFamily(ctx.params['id']);
    return ctx.state.caller ? read(familyId, region) : tell(ctx, familyId);
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
