import type Stripe from 'stripe';
import { invalidRequest, noSuch } from '../http/errors.js';
import { apiVersion, type Call, type Endpoint, type World } from '../http/endpoint.js';
import { newId } from '../ids.js';
import { page } from '../http/listing.js';
import type { Store } from '../store.js';

/** The endpoint from the simulator's own settings; each start sets it anew. */
export const configuredEndpointId = 'we_configured';

function newEndpoint(
  id: string,
  created: number,
  details: Pick<Stripe.WebhookEndpoint, 'url' | 'enabled_events'> & { secret: string },
): Stripe.WebhookEndpoint {
  return {
    id,
    object: 'webhook_endpoint',
    api_version: apiVersion,
    application: null,
    created,
    description: null,
    livemode: false,
    metadata: {},
    status: 'enabled',
    ...details,
  };
}

/** Sets the one endpoint of the settings; null removes it. */
export function configureEndpoint(
  store: Store,
  now: number,
  webhook: { url: string; secret: string } | null,
): void {
  store.transact(() => {
    if (webhook === null) store.remove('webhook_endpoints', configuredEndpointId);
    else
      store.put(
        'webhook_endpoints',
        newEndpoint(configuredEndpointId, now, { ...webhook, enabled_events: ['*'] }),
      );
  });
}

function create({ world, params }: Call): Stripe.WebhookEndpoint {
  const url = params.requiredString('url');
  const events = params.strings('enabled_events');
  if (!URL.canParse(url)) throw invalidRequest(`${url} is not a URL.`, { code: 'url_invalid', param: 'url' });
  if (events === undefined || events.length === 0) {
    throw invalidRequest('Name at least one of enabled_events, or *.', {
      code: 'parameter_missing',
      param: 'enabled_events',
    });
  }
  const id = newId('we');
  const secret = newId('whsec', 32);
  return world.store.put(
    'webhook_endpoints',
    newEndpoint(id, world.now(), { url, secret, enabled_events: events }),
  );
}

/** The secret is shown once, in the answer to its creation. */
function withoutSecret(endpoint: Stripe.WebhookEndpoint): Stripe.WebhookEndpoint {
  const shown = { ...endpoint };
  delete shown.secret;
  return shown;
}

function getEndpoint(world: World, id: string): Stripe.WebhookEndpoint {
  const found = world.store.find('webhook_endpoints', id);
  if (found === undefined) throw noSuch('webhook endpoint', id);
  return found;
}

function remove({ world, id }: Call): object {
  getEndpoint(world, id);
  world.store.remove('webhook_endpoints', id);
  return { id, object: 'webhook_endpoint', deleted: true };
}

function list(call: Call): object {
  return page(call, call.world.store.list('webhook_endpoints').map(withoutSecret));
}

export const webhookEndpointEndpoints: readonly Endpoint[] = [
  { method: 'post', path: '/webhook_endpoints', handle: create },
  { method: 'get', path: '/webhook_endpoints', handle: list },
  {
    method: 'get',
    path: '/webhook_endpoints/:id',
    handle: ({ world, id }) => withoutSecret(getEndpoint(world, id)),
  },
  { method: 'delete', path: '/webhook_endpoints/:id', handle: remove },
];
