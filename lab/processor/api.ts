import { setTimeout as pause } from 'node:timers/promises';
import Router, { type RouterContext } from '@koa/router';
import rawBody from 'raw-body';
import { apiVersion, type Endpoint, type World } from './http/endpoint.js';
import { chargeEndpoints } from './payments/charges.js';
import { checkoutSessionEndpoints } from './checkout/checkout-sessions.js';
import { customerEndpoints } from './customers.js';
import { disputeEndpoints } from './payments/disputes.js';
import { fraudWarningEndpoints } from './payments/fraud-warnings.js';
import { ApiError, invalidRequest } from './http/errors.js';
import { eventEndpoints } from './webhooks/events.js';
import { expand } from './http/expand.js';
import type { Fault } from './faults.js';
import { decodeForm, type FormObject } from './http/form.js';
import type { Idempotency, KeyedRequest } from './http/idempotency.js';
import { newId } from './ids.js';
import { invoiceItemEndpoints } from './invoices/invoice-items.js';
import { invoiceEndpoints } from './invoices/invoices.js';
import { writeJson } from './http/page-url.js';
import { Params } from './http/params.js';
import { paymentIntentEndpoints } from './payments/payment-intents.js';
import { paymentMethodEndpoints } from './cards/payment-methods.js';
import { refundEndpoints } from './payments/refunds.js';
import { setupIntentEndpoints } from './cards/setup-intents.js';
import { webhookEndpointEndpoints } from './webhooks/webhook-endpoints.js';

/** Every resource of the API; a new one is a file with its endpoints and one line here. */
const endpoints: readonly Endpoint[] = [
  ...customerEndpoints,
  ...paymentMethodEndpoints,
  ...setupIntentEndpoints,
  ...paymentIntentEndpoints,
  ...chargeEndpoints,
  ...refundEndpoints,
  ...disputeEndpoints,
  ...fraudWarningEndpoints,
  ...invoiceItemEndpoints,
  ...invoiceEndpoints,
  ...checkoutSessionEndpoints,
  ...eventEndpoints,
  ...webhookEndpointEndpoints,
];

export interface ApiDeps {
  readonly world: World;
  readonly idempotency: Idempotency;
  readonly secretKey: string;
  readonly publishableKey: string;
  readonly baseUrl: () => string;
  readonly log: RequestLog;
}

/** The last requests to the API, for tests that count calls. */
export type RequestLog = { method: string; path: string; idempotencyKey: string | null; status: number }[];
const logLimit = 1000;

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** The routes under /v1: authentication, faults, idempotency, and each request as one transaction. */
export function createApi(deps: ApiDeps): Router {
  const router = new Router({ prefix: '/v1' });
  for (const endpoint of endpoints) {
    router[endpoint.method](endpoint.path, (ctx) => serve(deps, endpoint, ctx));
  }
  return router;
}

async function serve(deps: ApiDeps, endpoint: Endpoint, ctx: RouterContext): Promise<void> {
  const requestId = newId('req', 14);
  ctx.set('request-id', requestId);
  ctx.set('stripe-version', apiVersion);
  const form = await readForm(ctx);
  authenticate(deps, endpoint, ctx, form);
  const { faults } = deps.world;
  const early = faults.takeRequest(ctx.method, ctx.path, ['status', 'html', 'reset', 'hang']);
  if (early !== undefined && !early.sticky) {
    breakBefore(ctx, early);
    return;
  }

  const key = ctx.method === 'POST' ? ctx.get('idempotency-key') : '';
  const request: KeyedRequest = { key, method: ctx.method, path: ctx.path, params: form };
  const kept = key === '' ? undefined : deps.idempotency.find(request);
  if (key !== '') ctx.set('idempotency-key', key);
  if (kept !== undefined) {
    ctx.set('idempotent-replayed', 'true');
    answer(deps, ctx, kept);
    return;
  }
  const release = key === '' ? () => undefined : deps.idempotency.use(key);
  try {
    const slow = faults.takeRequest(ctx.method, ctx.path, ['slow']);
    if (slow !== undefined) await pause(slow.delayMs);
    const made = executeAndKeep(deps, endpoint, ctx, request, requestId, early);
    const lost = faults.takeRequest(ctx.method, ctx.path, ['lost']);
    if (lost === undefined) answer(deps, ctx, made);
    else loseAnswer(ctx, lost);
  } finally {
    release();
  }
}

/** Does the request. A refusal by the state of an object is kept under the request's key, though nothing changed. */
function executeAndKeep(...args: Parameters<typeof execute>): Answer {
  const [deps, , , request, requestId] = args;
  try {
    return execute(...args);
  } catch (error) {
    if (request.key !== '' && error instanceof ApiError && error.isAboutState) {
      const body = writeJson({ error: error.body }, deps.baseUrl());
      deps.world.transact({ requestId, idempotencyKey: request.key }, () =>
        deps.idempotency.keep(request, error.status, body),
      );
    }
    throw error;
  }
}

/** Does the request; a decline is an answer whose effects stay, any other error leaves no effect. */
function execute(
  deps: ApiDeps,
  endpoint: Endpoint,
  ctx: RouterContext,
  request: KeyedRequest,
  requestId: string,
  sticky: Fault | undefined,
): Answer {
  const { world, baseUrl } = deps;
  const origin = { requestId, idempotencyKey: request.key === '' ? null : request.key };
  return world.transact(origin, () => {
    const made =
      sticky === undefined
        ? perform(world, endpoint, ctx, request.params, baseUrl())
        : { status: sticky.status, body: writeJson(faultBody(sticky), baseUrl()) };
    if (request.key !== '') deps.idempotency.keep(request, made.status, made.body);
    return made;
  });
}

function perform(
  world: World,
  endpoint: Endpoint,
  ctx: RouterContext,
  form: FormObject,
  baseUrl: string,
): Answer {
  const params = new Params(form);
  const paths = params.strings('expand') ?? [];
  if (endpoint.browser) params.string('client_secret');
  const call = { world, params, id: ctx.params['id'] ?? '', path: ctx.path };
  try {
    const object = endpoint.handle(call);
    params.requireKnown();
    return { status: 200, body: writeJson(expand(world, object, paths), baseUrl) };
  } catch (error) {
    if (!(error instanceof ApiError) || !error.isDecline) throw error;
    params.requireKnown();
    return { status: error.status, body: writeJson({ error: error.body }, baseUrl) };
  }
}

async function readForm(ctx: RouterContext): Promise<FormObject> {
  if (ctx.method !== 'POST') return decodeForm(ctx.querystring);
  const text = await rawBody(ctx.req, { limit: '1mb', encoding: 'utf8' });
  if (text !== '' && !ctx.is('application/x-www-form-urlencoded')) {
    throw invalidRequest('Send the body as application/x-www-form-urlencoded.');
  }
  return decodeForm(text);
}

function authenticate(deps: ApiDeps, endpoint: Endpoint, ctx: RouterContext, form: FormObject): void {
  const key = keyOf(ctx.get('authorization'));
  if (key === deps.secretKey) return;
  if (key === '') {
    throw invalidRequest('Send the secret key as a bearer token or as the user name.', { status: 401 });
  }
  if (key !== deps.publishableKey) {
    throw invalidRequest(`This is not the key of the lab's processor: ${key.slice(0, 8)}…`, { status: 401 });
  }
  const id = ctx.params['id'] ?? '';
  const { store } = deps.world;
  const object = store.find('payment_intents', id) ?? store.find('setup_intents', id);
  if (endpoint.browser && object !== undefined && form['client_secret'] === object.client_secret) return;
  throw invalidRequest('A publishable key can do this only with the client_secret of the object.', {
    status: 403,
    code: 'secret_key_required',
  });
}

function keyOf(header: string): string {
  const [scheme = '', value = ''] = header.split(' ');
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme.toLowerCase() !== 'basic') return '';
  return Buffer.from(value, 'base64').toString('utf8').split(':')[0] ?? '';
}

function answer(deps: ApiDeps, ctx: RouterContext, { status, body }: Answer): void {
  ctx.status = status;
  ctx.type = 'application/json';
  ctx.body = body;
  const idempotencyKey = ctx.get('idempotency-key');
  deps.log.push({
    method: ctx.method,
    path: ctx.path,
    idempotencyKey: idempotencyKey === '' ? null : idempotencyKey,
    status,
  });
  if (deps.log.length > logLimit) deps.log.shift();
}

/** Plays a fault in front of the API; the request has no effect. */
function breakBefore(ctx: RouterContext, fault: Fault): void {
  if (fault.kind === 'status') {
    ctx.status = fault.status;
    ctx.body = faultBody(fault);
  } else if (fault.kind === 'html') {
    ctx.status = 502;
    ctx.type = 'html';
    ctx.body = '<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>';
  } else {
    loseAnswer(ctx, { silent: fault.kind === 'hang' });
  }
}

function loseAnswer(ctx: RouterContext, { silent }: Pick<Fault, 'silent'>): void {
  ctx.respond = false;
  if (!silent) ctx.req.socket.resetAndDestroy();
}

function faultBody({ status, code }: Pick<Fault, 'status' | 'code'>): object {
  return status === 429
    ? {
        error: {
          type: 'invalid_request_error',
          code: code ?? 'rate_limit',
          message: 'Too many requests: wait a moment.',
        },
      }
    : { error: { type: 'api_error', message: `The processor failed with ${status}, as was ordered.` } };
}
