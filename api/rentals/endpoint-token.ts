import { notebookTokenOf } from '../../adapters/notebook-token.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { asksForToken } from '../../domain/rentals/endpoints.js';
import { portsOf } from '../../domain/rentals/notebook.js';
import { isUsed } from '../../domain/rentals/rental.js';
import { Refusal } from '../../domain/refusal.js';
import type { ApiContext, ApiDeps, ApiRouter } from '../context.js';
import { serve, type Handler } from '../http/serve.js';
import { showEndpointToken } from './describe-token.js';
import { getRental } from './get-rental.js';

/** The route of an endpoint's token (decision 168, "Notebook tokens"). */
export function endpointTokenRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, showEndpointToken, tokenOf(deps));
}

function tokenOf(deps: ApiDeps): Handler<typeof showEndpointToken> {
  return async (ctx) => {
    const rental = await getRental(ctx, deps);
    refuseToken(ctx, rental);
    return { token: notebookTokenOf(deps.settings.ownSoftware.installationKey, rental.id) };
  };
}

/**
 * Refuses the token of an endpoint that asks for none of ours, and to keys that did not open its rental.
 * @throws Refusal endpoint_not_found, session_required
 */
export function refuseToken(
  { params, state: { caller } }: Pick<ApiContext, 'params' | 'state'>,
  rental: Pick<RentalRow, 'status' | 'template_id' | 'software' | 'api_key_id'>,
): void {
  const port = portsOf(rental.template_id, rental.software).find(({ name }) => name === params['name']);
  if (!port || !asksForToken(rental.template_id, port) || !isUsed(rental.status)) {
    throw new Refusal(
      'endpoint_not_found',
      'This rental has no such endpoint with a token. GET /v1/rentals/:id lists its endpoints while it runs.',
    );
  }
  if (caller?.kind !== 'key' || rental.api_key_id === caller.keyId) return;
  throw new Refusal(
    'session_required',
    'This API key did not open the rental, so it can’t read its token. Sign in: POST /v1/auth/request-code.',
  );
}
