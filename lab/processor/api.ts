import { apiVersion, type Endpoint, type World } from './http/endpoint.js';
import { chargeEndpoints } from './payments/charges.js';
import { checkoutSessionEndpoints } from './checkout/checkout-sessions.js';
import { customerEndpoints } from './customers.js';
import { disputeEndpoints } from './payments/disputes.js';
import { fraudWarningEndpoints } from './payments/fraud-warnings.js';
import { ApiError, apiErrorOf, invalidRequest, unknownUrl } from './http/errors.js';
import { eventEndpoints } from './webhooks/events.js';
import { expand } from './http/expand.js';
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
}

/** A request under /v1, as it came by whichever way. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  /** Without its question mark; empty where there is none. */
  readonly query: string;
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request that may be done. */
export interface Admitted {
  readonly endpoint: Endpoint;
  readonly id: string;
  readonly requestId: string;
  readonly request: KeyedRequest;
}

const routes = endpoints.map((endpoint) => ({
  endpoint,
  pattern: new RegExp(`^/v1${endpoint.path.replace(':id', '([^/]+)')}$`),
}));

/** The headers of each answer. */
export function headersOf(requestId: string): Record<string, string> {
  return { 'request-id': requestId, 'stripe-version': apiVersion };
}

/** Answers a request at once: what is ordered to happen on its way does not. */
export function answerAtOnce(deps: ApiDeps, request: ApiRequest): ApiAnswer {
  const requestId = newId('req', 14);
  const headers = headersOf(requestId);
  try {
    const admitted = admit(deps, request, requestId);
    const kept = findKept(deps, admitted);
    if (kept !== undefined) return { ...kept, headers: { ...headers, ...kept.headers } };
    const { status, body } = perform(deps, admitted);
    return { status, body, headers };
  } catch (error) {
    const { status, body } = apiErrorOf(error);
    return { status, headers, body: JSON.stringify({ error: body }) };
  }
}

/** Finds what a request asks for, and who asks. @throws ApiError */
export function admit(deps: ApiDeps, request: ApiRequest, requestId: string): Admitted {
  const { method, path, headers } = request;
  for (const { endpoint, pattern } of routes) {
    const match = endpoint.method.toUpperCase() === method ? pattern.exec(path) : null;
    if (match === null) continue;
    const params = readForm(request);
    const id = decodeURIComponent(match[1] ?? '');
    authenticate(deps, endpoint, id, headers['authorization'] ?? '', params);
    const key = method === 'POST' ? (headers['idempotency-key'] ?? '') : '';
    return { endpoint, id, requestId, request: { key, method, path, params } };
  }
  throw unknownUrl(method, path);
}

/** Finds the answer that was kept under a request's key. @throws ApiError when the key is another's, or in use */
export function findKept(deps: ApiDeps, { request }: Admitted): ApiAnswer | undefined {
  const kept = request.key === '' ? undefined : deps.idempotency.find(request);
  if (kept === undefined) return undefined;
  const { status, body } = kept;
  return { status, body, headers: { 'idempotent-replayed': 'true' } };
}

type Answer = Pick<ApiAnswer, 'status' | 'body'>;

/**
 * Does a request. A refusal by the state of an object is kept under the request's key, though nothing changed.
 * @param instead the answer that is given, and kept, in place of doing it
 */
export function perform(deps: ApiDeps, admitted: Admitted, instead?: Answer): Answer {
  const { request, requestId } = admitted;
  try {
    return execute(deps, admitted, instead);
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
function execute(deps: ApiDeps, admitted: Admitted, instead: Answer | undefined): Answer {
  const { request, requestId } = admitted;
  const origin = { requestId, idempotencyKey: request.key === '' ? null : request.key };
  return deps.world.transact(origin, () => {
    const made = instead ?? handle(deps, admitted);
    if (request.key !== '') deps.idempotency.keep(request, made.status, made.body);
    return made;
  });
}

function handle({ world, baseUrl }: ApiDeps, { endpoint, id, request }: Admitted): Answer {
  const params = new Params(request.params);
  const paths = params.strings('expand') ?? [];
  if (endpoint.browser) params.string('client_secret');
  try {
    const object = endpoint.handle({ world, params, id, path: request.path });
    params.requireKnown();
    return { status: 200, body: writeJson(expand(world, object, paths), baseUrl()) };
  } catch (error) {
    if (!(error instanceof ApiError) || !error.isDecline) throw error;
    params.requireKnown();
    return { status: error.status, body: writeJson({ error: error.body }, baseUrl()) };
  }
}

function readForm({ method, query, headers, body }: ApiRequest): FormObject {
  if (method !== 'POST') return decodeForm(query);
  const type = headers['content-type'] ?? '';
  if (body !== '' && !/^application\/x-www-form-urlencoded *(;|$)/i.test(type)) {
    throw invalidRequest('Send the body as application/x-www-form-urlencoded.');
  }
  return decodeForm(body);
}

function authenticate(
  deps: ApiDeps,
  endpoint: Endpoint,
  id: string,
  authorization: string,
  form: FormObject,
): void {
  const key = keyOf(authorization);
  if (key === deps.secretKey) return;
  if (key === '') {
    throw invalidRequest('Send the secret key as a bearer token or as the user name.', { status: 401 });
  }
  if (key !== deps.publishableKey) {
    throw invalidRequest(`This is not the key of the lab's processor: ${key.slice(0, 8)}…`, { status: 401 });
  }
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
