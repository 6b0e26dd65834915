import type { ApiRouter } from '../../../api/context.js';
import { createQuote } from '../../../api/rentals/describe-quotes.js';
import { readRentalRequest } from '../../../api/rentals/request.js';
import { forgetting } from '../software.js';
import { makeQuote } from '../quotes.js';
import { serveMock } from '../serve.js';
import type { World } from '../world.js';

/** Quotes, which hold for a minute. The mock's prices never change: X-Mock-Failure: price_changed asks for that. */
export function quoteRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, createQuote, async (ctx, account) => {
    const listOwnKeys = () => Promise.resolve(account.sshKeys);
    const { request, missingKey } = await readRentalRequest(ctx, account.user.id, listOwnKeys, forgetting);
    if (missingKey) throw missingKey;
    return makeQuote(world, account, request);
  });
}
