import * as declared from '../../../api/catalog/describe.js';
import type { ApiContext, ApiRouter } from '../../../api/context.js';
import {
  filterOf,
  isListingKey,
  keyOf,
  presentFamilies,
  presentListing,
  presentTemplates,
} from '../../../api/catalog/routes.js';
import { isKnownPrice, refuseRegionOf } from '../../../api/catalog/public-prices.js';
import { knownFamily, presentHistory } from '../../../api/catalog/history.js';
import { pageOf, readCursor } from '../../../api/http/cursor.js';
import { isKnownVersion } from '../../../api/http/known-version.js';
import { serve, withoutBody } from '../../../api/http/serve.js';
import { readQuery } from '../../../api/http/validation.js';
import { madeUpHistory, madeUpRecord } from '../history.js';
import { findListings, offeredFamilies } from '../listings.js';
import { serveDeps } from '../signed-in.js';
import type { World } from '../world.js';

/** The catalog: a fixture of six families. */
export function catalogRoutes(router: ApiRouter, world: World): void {
  const deps = serveDeps(world);
  serve(router, deps, declared.listListings, (ctx) => {
    const query = readQuery(ctx, declared.listingQuery);
    const after = readCursor(query.cursor, isListingKey);
    const rows = findListings(world.listings, filterOf(query), after && keyOf(after), query.pageSize + 1);
    const { page, nextCursor } = pageOf(rows, query.pageSize, (row) => [row.price_per_hour_cents, row.id]);
    const body = { listings: page.map((row) => presentListing(row, madeUpRecord)), nextCursor };
    return isKnownVersion(ctx, body) ? withoutBody : body;
  });
  serve(router, deps, declared.listFamilies, (ctx) =>
    tell(ctx, { families: presentFamilies(offeredFamilies(world.listings)) }),
  );
  serve(router, deps, declared.showFamilyHistory, (ctx) => {
    const { region } = readQuery(ctx, declared.historyQuery);
    refuseRegionOf(ctx, region);
    const familyId = knownFamily(ctx.params['id']);
    return tell(ctx, presentHistory(familyId, madeUpHistory(world.listings, familyId, region, world.now())));
  });
  serve(router, deps, declared.listTemplates, () => presentTemplates());
}

/** Answers callers, and strangers as the service does. */
function tell<Prices extends object>(ctx: ApiContext, prices: Prices) {
  return ctx.state.caller || !isKnownPrice(ctx, prices) ? prices : withoutBody;
}
