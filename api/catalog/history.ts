import { readOfferHistory, type OfferHour } from '../../adapters/postgres/catalog/offer-history.js';
import { isFamilyId } from '../../domain/catalog/families.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import { countriesOf } from '../../domain/catalog/regions.js';
import { Refusal } from '../../domain/refusal.js';
import type { ApiDeps, ApiRouter } from '../context.js';
import { requireCaller } from '../http/middleware/caller.js';
import type { Step } from '../http/middleware/session.js';
import { regionField, fields } from '../http/fields.js';
import { readQuery } from '../http/validation.js';

/**
 * The route of what a family cost before: GET /v1/catalog/families/:id/history (decision 106, "Progress and
 * reliability").
 */
export function offerHistoryRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.get('/v1/catalog/families/:id/history', requireCaller(deps, 'read'), showHistory(deps));
}

export const historyQuery = fields({ region: regionField });

function showHistory(deps: ApiDeps): Step {
  return async (ctx) => {
    const { region } = readQuery(ctx, historyQuery);
    const familyId = knownFamily(ctx.params['id']);
    const hours = await readOfferHistory(deps.db, {
      familyId,
      regionCodes: region === undefined ? undefined : countriesOf(region),
      days: catalogLimits.historyDays,
    });
    ctx.body = presentHistory(familyId, hours);
  };
}

/**
 * Returns the family of a path.
 * @throws Refusal not_found
 */
export function knownFamily(id: string | undefined): string {
  if (id !== undefined && isFamilyId(id)) return id;
  throw new Refusal('not_found', 'There is no such GPU family: GET /v1/catalog/families lists them.');
}

/** The hours of a family, oldest first. */
export function presentHistory(familyId: string, hours: readonly OfferHour[]) {
  return { familyId, points: hours.map(({ at, ...hour }) => ({ at: at.toISOString(), ...hour })) };
}
