import assert from 'node:assert/strict';
import { GpuRental, isApiError } from '@gpu-rental/client';
import type { Answer, AnswerBody } from '../support/http/answers.js';
import { ApiClient } from '../support/http/api.js';
import { checkDescribed } from '../support/http/described.js';

/** What a scenario asks, as it is handed to the typed client: also what its types would never let pass. */
interface Asked {
  readonly id: string;
  /** Of an endpoint. */
  readonly name: string;
  readonly query: never;
  readonly body: never;
  readonly options: { readonly idempotencyKey?: string };
}

type Call = (gpu: GpuRental, asked: Asked) => unknown;

/** The typed client's call of each operation. */
export const clientCalls: Readonly<Record<string, Call>> = {
  'POST /v1/auth/request-code': (gpu, { body }) => gpu.auth.requestCode(body),
  'POST /v1/auth/verify-code': (gpu, { body }) => gpu.auth.verifyCode(body),
  'GET /v1/auth/me': (gpu) => gpu.auth.me(),
  'POST /v1/auth/logout': (gpu) => gpu.auth.logout(),
  'GET /v1/auth/providers': (gpu) => gpu.auth.providers(),
  'GET /v1/auth/sessions': (gpu, { query }) => gpu.auth.sessions.list(query).firstPage(),
  'DELETE /v1/auth/sessions/{id}': (gpu, { id }) => gpu.auth.sessions.delete(id),
  'POST /v1/auth/sessions/end-others': (gpu) => gpu.auth.sessions.endOthers(),
  'POST /v1/auth/refresh-proof': (gpu, { body }) => gpu.auth.refreshProof(body),
  'GET /v1/auth/passkeys': (gpu) => gpu.auth.passkeys.list(),
  'POST /v1/auth/passkeys/begin': (gpu) => gpu.auth.passkeys.begin(),
  'POST /v1/auth/passkeys': (gpu, { body }) => gpu.auth.passkeys.add(body),
  'PATCH /v1/auth/passkeys/{id}': (gpu, { id, body }) =>
    gpu.auth.passkeys.rename(id, (body as { name: string }).name),
  'DELETE /v1/auth/passkeys/{id}': (gpu, { id }) => gpu.auth.passkeys.delete(id),
  'POST /v1/auth/passkey-sign-in/begin': (gpu) => gpu.auth.passkeys.beginSignIn(),
  'POST /v1/auth/passkey-sign-in': (gpu, { body }) => gpu.auth.passkeys.signIn(body),
  'POST /v1/auth/passkey-proof/begin': (gpu) => gpu.auth.passkeys.beginProof(),
  'POST /v1/auth/passkey-proof': (gpu, { body }) => gpu.auth.passkeys.prove(body),
  'GET /v1/account/closing': (gpu) => gpu.account.closing(),
  'POST /v1/account/close': (gpu, { body }) => gpu.account.close(body),
  'GET /v1/account/export': (gpu) => gpu.account.export().then((file) => new Response(file).text()),
  'GET /v1/ssh-keys': (gpu) => gpu.sshKeys.list(),
  'POST /v1/ssh-keys': (gpu, { body }) => gpu.sshKeys.add(body),
  'DELETE /v1/ssh-keys/{id}': (gpu, { id }) => gpu.sshKeys.delete(id),
  'GET /v1/api-keys': (gpu, { query }) => gpu.apiKeys.list(query).firstPage(),
  'POST /v1/api-keys': (gpu, { body }) => gpu.apiKeys.create(body),
  'GET /v1/api-keys/{id}': (gpu, { id }) => gpu.apiKeys.get(id),
  'PATCH /v1/api-keys/{id}': (gpu, { id, body }) => gpu.apiKeys.change(id, body),
  'DELETE /v1/api-keys/{id}': (gpu, { id, query }) => gpu.apiKeys.revoke(id, query),
  'GET /v1/catalog/listings': (gpu, { query }) => gpu.catalog.listings(query).firstPage(),
  'GET /v1/catalog/families': (gpu) => gpu.catalog.families(),
  'GET /v1/catalog/families/{id}/history': (gpu, { id, query }) => gpu.catalog.history(id, query),
  'GET /v1/catalog/templates': (gpu) => gpu.catalog.templates(),
  'POST /v1/quotes': (gpu, { body }) => gpu.quotes.create(body),
  'POST /v1/rentals': (gpu, { body, options }) => gpu.rentals.create(body, options),
  'GET /v1/rentals': (gpu, { query }) => gpu.rentals.list(query).firstPage(),
  'GET /v1/rentals/{id}': (gpu, { id }) => gpu.rentals.get(id),
  'PATCH /v1/rentals/{id}': (gpu, { id, body, options }) => gpu.rentals.change(id, body, options),
  'POST /v1/rentals/{id}/stop': (gpu, { id }) => gpu.rentals.stop(id),
  'GET /v1/rentals/{id}/meter': (gpu, { id }) => gpu.rentals.meter(id),
  'GET /v1/rentals/{id}/endpoints/{name}/token': (gpu, { id, name }) => gpu.rentals.endpointToken(id, name),
  'GET /v1/rentals/{id}/charges': (gpu, { id, query }) => gpu.rentals.charges(id, query),
  'POST /v1/rentals/{id}/keep-alive': (gpu, { id, body }) =>
    gpu.rentals.keepAlive(id, (body as { until: string }).until),
  'GET /v1/rentals/{id}/telemetry': (gpu, { id, query }) => gpu.rentals.telemetry(id, query),
  'GET /v1/billing/balance': (gpu) => gpu.wallet.get(),
  'GET /v1/billing/config': (gpu) => gpu.wallet.config(),
  'GET /v1/billing/standing': (gpu) => gpu.wallet.standing(),
  'GET /v1/billing/budget': (gpu) => gpu.wallet.budget(),
  'PUT /v1/billing/budget': (gpu, { body }) => gpu.wallet.saveBudget(body),
  'GET /v1/billing/ledger': (gpu, { query }) => gpu.wallet.ledger(query).firstPage(),
  'GET /v1/billing/ledger.csv': (gpu, { query }) => gpu.wallet.ledgerCsv(query),
  'GET /v1/ledger/roots': (gpu, { query }) => gpu.wallet.roots(query),
  'GET /v1/billing/proof': (gpu, { query }) => gpu.wallet.proof(query),
  'GET /v1/billing/ledger/{id}/explain': (gpu, { id }) => gpu.wallet.explain(id),
  'GET /v1/billing/spending': (gpu, { query }) => gpu.wallet.spending(query),
  'GET /v1/billing/statement': (gpu, { query }) => gpu.wallet.statement(query),
  'POST /v1/billing/checkout': (gpu, { body, options }) => gpu.checkout.create(body, options),
  'GET /v1/billing/topups': (gpu, { query }) => gpu.topups.list(query).firstPage(),
  'GET /v1/billing/topups/{id}': (gpu, { id }) => gpu.topups.get(id),
  'GET /v1/billing/topups/{id}/receipt': (gpu, { id }) =>
    gpu.topups.receipt(id).then((file) => new TextDecoder().decode(file)),
  'GET /v1/billing/details': (gpu) => gpu.wallet.details(),
  'PUT /v1/billing/details': (gpu, { body }) => gpu.wallet.saveDetails(body),
  'POST /v1/billing/setup-intent': (gpu) => gpu.card.setUp(),
  'GET /v1/billing/card': (gpu) => gpu.card.get(),
  'DELETE /v1/billing/card': (gpu) => gpu.card.delete(),
  'GET /v1/billing/auto-topup': (gpu) => gpu.autoTopup.get(),
  'PUT /v1/billing/auto-topup': (gpu, { body }) => gpu.autoTopup.save(body),
  'GET /v1/billing/invoices': (gpu, { query }) => gpu.invoices.list(query),
  'GET /v1/billing/invoices/{id}': (gpu, { id }) => gpu.invoices.get(id),
  'GET /v1/billing/invoices/{id}/pay-url': (gpu, { id }) => gpu.invoices.payUrl(id),
  'GET /v1/webhooks': (gpu) => gpu.webhooks.list(),
  'POST /v1/webhooks': (gpu, { body }) => gpu.webhooks.add(body),
  'GET /v1/webhooks/{id}': (gpu, { id }) => gpu.webhooks.get(id),
  'PATCH /v1/webhooks/{id}': (gpu, { id, body }) => gpu.webhooks.change(id, body),
  'DELETE /v1/webhooks/{id}': (gpu, { id }) => gpu.webhooks.delete(id),
  'GET /v1/webhooks/{id}/deliveries': (gpu, { id, query }) => gpu.webhooks.deliveries(id, query).firstPage(),
  'POST /v1/webhooks/{id}/ping': (gpu, { id }) => gpu.webhooks.ping(id),
  'POST /v1/webhooks/{id}/redeliver': (gpu, { id, body }) => gpu.webhooks.redeliver(id, body),
  'POST /v1/webhooks/{id}/rotate-secret': (gpu, { id }) => gpu.webhooks.rotateSecret(id),
  'GET /v1/audit': (gpu, { query }) => gpu.audit.list(query).firstPage(),
  'GET /v1/notices': (gpu) => gpu.notices.get(),
  'PUT /v1/notices': (gpu, { body }) => gpu.notices.save(body),
  'GET /v1/events': (gpu, { query }) =>
    Object.hasOwn(query, 'before')
      ? gpu.events.newestFirst(query).firstPage()
      : gpu.events.list(query).firstPage(),
};

const templates = Object.keys(clientCalls).map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));
// Paths without parameters go before paths with them.
templates.sort((a, b) => Number(a.operation.includes('{')) - Number(b.operation.includes('{')));

/** What the API answered. */
interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly contentType: string;
  readonly text: string;
}

/** What a client gave: a value, or what the API refused as the client tells it, or any other error. */
interface Outcome {
  readonly value?: unknown;
  readonly refusal?: { readonly status: number; readonly told: unknown };
  readonly error?: Error;
}

/** What a client is to ask, and as whom. */
export interface Question extends Asked {
  readonly call: Call;
  /** As `clientCalls` names it. */
  readonly operation: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly baseUrl: string;
  readonly cookie: string | undefined;
  readonly apiKey: string | undefined;
}

/** Has a client ask, without repetitions, and tells each answer on the wire. */
export type Through = (question: Question) => Promise<{ received: readonly Received[]; given: Outcome }>;

const throughTypescript: Through = async (question) => {
  const { baseUrl, cookie, apiKey, method, path } = question;
  const received: Received[] = [];
  const gpu = new GpuRental({
    baseUrl,
    ...(cookie !== undefined && { session: { cookie } }),
    ...(apiKey !== undefined && { apiKey }),
    retries: 0,
    fetch: async (request) => {
      assertSameRequest(request, method, baseUrl + path);
      const response = await fetch(request);
      received.push(await receivedOf(response.clone()));
      return response;
    },
  });
  return { received, given: await outcomeOf(() => question.call(gpu, question)) };
};

/**
 * A client of the scenarios that lets a client ask, where it has a call: it holds what that gives, or throws, against the
 * answer on the wire, and the answer against the description. What the client can't ask (other headers, bodies that are no
 * JSON) is asked without it.
 */
export class ContractClient extends ApiClient {
  /** Which client asks; default: the typed one. */
  static through: Through = throughTypescript;
  /** The operations that a client was let ask, as `clientCalls` names them. */
  static called = new Set<string>();

  override async send(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const asked = readAsked(method, path, body, headers);
    if (!asked) return super.send(method, path, body, headers);
    ContractClient.called.add(asked.operation);
    const { Cookie: cookie } = this.cookiesFor(path);
    const whose = { baseUrl: this.url, cookie, apiKey: this.key };
    const { received, given } = await ContractClient.through({ ...asked, ...whose, method, path });
    const [answer, ...more] = received;
    if (!answer) throw given.error ?? new Error(`${method} ${path} asked nothing`);
    assert.equal(more.length, 0, `${method} ${path} asked ${received.length} times`);
    this.keepCookie(answer.headers.getSetCookie());
    checkDescribed({ method, path, ...answer });
    const parsed =
      answer.contentType === 'application/json' ? (JSON.parse(answer.text) as unknown) : answer.text;
    assertSameOutcome(answer.status, parsed, given);
    return { status: answer.status, headers: answer.headers, text: answer.text, body: parsed as AnswerBody };
  }
}

/** Reads what the typed client is to ask; undefined where it could not ask this. */
function readAsked(
  method: string,
  path: string,
  body: string | Uint8Array | undefined,
  { 'Idempotency-Key': idempotencyKey, ...headers }: Record<string, string>,
): (Asked & Pick<Question, 'call' | 'operation'>) | undefined {
  const [plain = '', search = ''] = path.split('?');
  const found = templates.find(({ pattern }) => pattern.test(`${method} ${plain}`));
  const query = readQuery(search);
  if (!found || !query || !isPlainJson(body, headers)) return undefined;
  return {
    ...{ call: clientCalls[found.operation]!, operation: found.operation },
    ...{ id: '', name: '', ...found.pattern.exec(`${method} ${plain}`)?.groups },
    query: query as never,
    body: (body === undefined ? undefined : JSON.parse(body)) as never,
    options: idempotencyKey === undefined ? {} : { idempotencyKey },
  };
}

/** A cursor is moved by lists themselves; a name that stands twice fits into no object. */
function readQuery(search: string): object | undefined {
  const query = [...new URLSearchParams(search)];
  const names = new Set(query.map(([name]) => name));
  return names.has('cursor') || names.size < query.length ? undefined : Object.fromEntries(query);
}

/** Tells whether there is a body of JSON or none, and no header beside what goes with it. */
function isPlainJson(
  body: string | Uint8Array | undefined,
  headers: Record<string, string>,
): body is string | undefined {
  const own = JSON.stringify(body === undefined ? {} : { 'Content-Type': 'application/json' });
  return typeof body !== 'object' && JSON.stringify(headers) === own;
}

/** Asserts that a client has sent what it was to ask. */
export function assertSameRequest(
  request: { method: string; url: string },
  method: string,
  url: string,
): void {
  const [asked, sent] = [new URL(url), new URL(request.url)];
  assert.deepEqual([request.method, sent.origin, sent.pathname], [method, asked.origin, asked.pathname]);
  assert.deepEqual([...sent.searchParams].sort(), [...asked.searchParams].sort());
}

async function receivedOf(response: Response): Promise<Received> {
  const [contentType = ''] = (response.headers.get('content-type') ?? '').split(';');
  return { status: response.status, headers: response.headers, contentType, text: await response.text() };
}

async function outcomeOf(ask: () => unknown): Promise<Outcome> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (!isApiError(error)) return { error: error as Error };
    const { status, code, message, details, requestId, support } = error;
    const more = { ...(details !== undefined && { details }), ...(support !== undefined && { support }) };
    const told = { error: code, message, requestId, ...more };
    return { refusal: { status, told } };
  }
}

/** A call gives the answer, the one list in it, or nothing where it holds nothing but `ok`. */
function assertSameOutcome(status: number, body: unknown, { value, refusal, error }: Outcome): void {
  if (error !== undefined) throw error;
  if (status >= 400) {
    if (!refusal) throw new Error(`the client gave ${JSON.stringify(value)} for ${status}`);
    assert.deepEqual([refusal.status, refusal.told], [status, body]);
    return;
  }
  assert.equal(refusal, undefined);
  if (value === undefined) assert.deepEqual(body, { ok: true });
  else if (Array.isArray(value)) assert.deepEqual(Object.values(body as object), [value]);
  else assert.deepEqual(value, body);
}

/** Asserts that the scenarios that ran have let a client ask each operation. */
export function assertAllCalled(): void {
  assert.deepEqual([...ContractClient.called].sort(), Object.keys(clientCalls).sort());
}
