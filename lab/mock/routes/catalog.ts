import { historyQuery, listingQuery } from '../../../api/catalog/describe.js';
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
import { readQuery } from '../../../api/http/validation.js';
import { madeUpHistory, madeUpRecord } from '../history.js';
import { findListings, offeredFamilies } from '../listings.js';
import { signedIn, signedInOrStranger } from '../signed-in.js';
import type { World } from '../world.js';

/** The catalog: a fixture of six families. */
export function catalogRoutes(router: ApiRouter, world: World): void {
  router.get(
    '/v1/catalog/listings',
    signedIn(world, (ctx) => {
      const query = readQuery(ctx, listingQuery);
      const after = readCursor(query.cursor, isListingKey);
      const rows = findListings(world.listings, filterOf(query), after && keyOf(after), query.pageSize + 1);
      const { page, nextCursor } = pageOf(rows, query.pageSize, (row) => [row.price_per_hour_cents, row.id]);
      const body = { listings: page.map((row) => presentListing(row, madeUpRecord)), nextCursor };
      if (!isKnownVersion(ctx, body)) ctx.body = body;
    }),
  );
  router.get(
    '/v1/catalog/families',
    signedInOrStranger(world, (ctx) => {
      tell(ctx, { families: presentFamilies(offeredFamilies(world.listings)) });
    }),
  );
  router.get(
    '/v1/catalog/families/:id/history',
    signedInOrStranger(world, (ctx) => {
      const { region } = readQuery(ctx, historyQuery);
      refuseRegionOf(ctx, region);
      const familyId = knownFamily(ctx.params['id']);
      tell(ctx, presentHistory(familyId, madeUpHistory(world.listings, familyId, region, world.now())));
    }),
  );
  router.get(
    '/v1/catalog/templates',
    signedIn(world, (ctx) => {
      ctx.body = presentTemplates();
    }),
  );
}

/** Answers callers, and strangers as the service does. */
function tell(ctx: ApiContext, prices: object): void {
  if (ctx.state.caller || !isKnownPrice(ctx, prices)) ctx.body = prices;
}
