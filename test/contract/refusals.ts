import assert from 'node:assert/strict';
import { ContractClient } from './through-client.js';
import { signIn, type Backend, type Person } from './backends.js';

type Case = readonly [
  method: string,
  path: string,
  body: unknown,
  status: number,
  code: string,
  field?: string,
];

const noRental = '/v1/rentals/rent_01JZ8Q4M6T3V5X7Y9A1B2C3D4E';

/** Invalid requests, and requests about things that do not exist. */
const cases: readonly Case[] = [
  ['POST', '/v1/auth/request-code', { email: 'nobody' }, 400, 'invalid_email', 'email'],
  ['POST', '/v1/auth/verify-code', { email: 'a@b.co', code: '12345' }, 400, 'validation_failed', 'code'],
  ['POST', '/v1/ssh-keys', { name: 'x', publicKey: 'ssh-rsa no' }, 400, 'validation_failed', 'publicKey'],
  ['POST', '/v1/ssh-keys', { name: 'x' }, 400, 'validation_failed', 'body'],
  ['GET', '/v1/catalog/listings?gpuCount=3', undefined, 400, 'invalid_count', 'gpuCount'],
  ['GET', '/v1/catalog/listings?pageSize=201', undefined, 400, 'validation_failed', 'pageSize'],
  ['GET', '/v1/catalog/listings?cursor=x', undefined, 400, 'validation_failed', 'cursor'],
  ['GET', '/v1/catalog/listings?region=mars', undefined, 400, 'validation_failed', 'region'],
  ['GET', '/v1/catalog/families/abacus/history', undefined, 404, 'not_found'],
  ['GET', '/v1/catalog/families/b200/history?region=mars', undefined, 400, 'validation_failed', 'region'],
  ['POST', '/v1/rentals', { familyId: 'b200', gpuCount: 3 }, 400, 'invalid_count', 'gpuCount'],
  ['POST', '/v1/rentals', { familyId: 'b200', gpuCount: 1, x: 1 }, 400, 'validation_failed', 'x'],
  ['POST', '/v1/rentals', { familyId: 'abacus', gpuCount: 1 }, 400, 'unknown_family'],
  ['POST', '/v1/rentals', { familyId: 'b200', gpuCount: 4 }, 400, 'model_unavailable'],
  ['POST', '/v1/rentals', { familyId: 'b200', gpuCount: 8 }, 403, 'insufficient_balance'],
  ['POST', '/v1/rentals', { familyId: 'b200', gpuCount: 8, sshKeyIds: ['key_1'] }, 404, 'key_not_found'],
  ['POST', '/v1/rentals', { quoteId: 'quo_1' }, 404, 'quote_not_found'],
  ['POST', '/v1/rentals', { quoteId: 'quo_1', region: 'eu' }, 400, 'validation_failed', 'region'],
  ['POST', '/v1/quotes', { familyId: 'abacus', gpuCount: 1 }, 400, 'unknown_family'],
  ['POST', '/v1/quotes', { familyId: 'b200', gpuCount: 4 }, 400, 'model_unavailable'],
  ['POST', '/v1/rentals', undefined, 400, 'validation_failed', 'body'],
  ['GET', '/v1/rentals?status=lost', undefined, 400, 'validation_failed', 'status'],
  // [7], a cursor as the release before made it: the number of a row counts those of all users.
  ['GET', '/v1/rentals?cursor=Wzdd', undefined, 400, 'validation_failed', 'cursor'],
  ['GET', '/v1/audit?cursor=Wzdd', undefined, 400, 'validation_failed', 'cursor'],
  ['GET', '/v1/events?after=-1', undefined, 400, 'validation_failed', 'after'],
  ['GET', '/v1/events?types=rental', undefined, 400, 'validation_failed', 'types'],
  ['GET', '/v1/events?after=1000', undefined, 409, 'resync'],
  ['GET', '/v1/events/stream?types=rental', undefined, 400, 'validation_failed', 'types'],
  ['GET', noRental, undefined, 404, 'rental_not_found'],
  ['GET', '/v1/rentals/1', undefined, 404, 'rental_not_found'],
  ['GET', `${noRental}/meter`, undefined, 404, 'rental_not_found'],
  ['GET', `${noRental}/charges`, undefined, 404, 'rental_not_found'],
  ['POST', `${noRental}/keep-alive`, { until: 'soon' }, 400, 'validation_failed', 'until'],
  ['PATCH', noRental, { idleIgnores: ['sessions'] }, 400, 'validation_failed', 'idleIgnores'],
  ['PATCH', noRental, { stopWhenIdleMinutes: 14 }, 400, 'validation_failed', 'stopWhenIdleMinutes'],
  ['GET', `${noRental}/telemetry`, undefined, 404, 'rental_not_found'],
  ['GET', `${noRental}/telemetry?points=0`, undefined, 400, 'validation_failed', 'points'],
  [
    ...(['GET', `${noRental}/telemetry?from=2026-11-02&to=2026-11-01`, undefined] as const),
    ...([400, 'validation_failed', 'from'] as const),
  ],
  ['GET', `${noRental}/charges?interval=week`, undefined, 400, 'validation_failed', 'interval'],
  ['POST', `${noRental}/stop`, undefined, 404, 'rental_not_found'],
  ['PATCH', noRental, { name: 'x' }, 404, 'rental_not_found'],
  ['PATCH', noRental, {}, 400, 'validation_failed', 'body'],
  ['PATCH', noRental, { maxSpendCents: 0 }, 400, 'validation_failed', 'maxSpendCents'],
  ['GET', '/v1/rentals?label=Team:x', undefined, 400, 'validation_failed', 'label'],
  [
    ...(['GET', '/v1/billing/statement?from=2026-11-01&to=2026-11-02&groupBy=model', undefined] as const),
    ...([400, 'validation_failed', 'groupBy'] as const),
  ],
  ['POST', '/v1/api-keys', { name: 'x', scopes: [] }, 400, 'validation_failed', 'scopes'],
  ['POST', '/v1/api-keys', { name: 'x', scopes: ['root'] }, 400, 'validation_failed', 'scopes.0'],
  [
    ...(['POST', '/v1/api-keys', { name: 'x', scopes: ['read'], expiresAt: '2026-01-01' }] as const),
    ...([400, 'validation_failed', 'expiresAt'] as const),
  ],
  [
    ...(['POST', '/v1/api-keys', { name: 'x', scopes: ['read'], allowedCidrs: ['10.0.0.1/8'] }] as const),
    ...([400, 'validation_failed', 'allowedCidrs.0'] as const),
  ],
  ['GET', '/v1/api-keys/key_1', undefined, 404, 'key_not_found'],
  ['PATCH', '/v1/api-keys/key_1', { name: 'x' }, 404, 'key_not_found'],
  ['PATCH', '/v1/api-keys/key_1', {}, 400, 'validation_failed', 'body'],
  ['DELETE', '/v1/api-keys/key_1', undefined, 404, 'key_not_found'],
  ['GET', '/v1/billing/ledger?rentalId=rent_1', undefined, 404, 'rental_not_found'],
  ['GET', '/v1/billing/ledger?type=gift', undefined, 400, 'validation_failed', 'type'],
  ['POST', '/v1/billing/checkout', { amountCents: 99 }, 400, 'invalid_amount', 'amountCents'],
  ['GET', '/v1/billing/topups/top_1', undefined, 404, 'topup_not_found'],
  ['PUT', '/v1/billing/auto-topup', { enabled: true }, 400, 'validation_failed', 'thresholdCents'],
  ['PUT', '/v1/billing/auto-topup', { enabled: true, thresholdCents: 500 }, 409, 'no_saved_card'],
  [
    ...(['PUT', '/v1/billing/auto-topup', { enabled: false, dailyCapCents: 1_500 }, 400] as const),
    ...(['validation_failed', 'dailyCapCents'] as const),
  ],
  ['PUT', '/v1/billing/budget', { monthlyCents: 0 }, 400, 'validation_failed', 'monthlyCents'],
  ['PUT', '/v1/billing/budget', {}, 400, 'validation_failed', 'monthlyCents'],
  ['PUT', '/v1/billing/budget', { monthlyCents: null, hard: true }, 400, 'validation_failed', 'hard'],
  ['GET', '/v1/billing/invoices?status=draft', undefined, 400, 'validation_failed', 'status'],
  ['GET', '/v1/billing/invoices/inv_1', undefined, 404, 'invoice_not_found'],
  ['GET', '/v1/billing/invoices/inv_1/pay-url', undefined, 404, 'invoice_not_found'],
  ['GET', '/v1/billing/statement?from=2026-11-02&to=2026-11-01', undefined, 400, 'validation_failed', 'to'],
  ['GET', '/v1/billing/spending?from=2026-11-01&to=2026-12-03', undefined, 400, 'validation_failed', 'to'],
  ['GET', '/v1/auth/oauth/google/start', undefined, 404, 'not_found'],
  ['PUT', '/v1/notices', { kinds: { low_balance: false } }, 400, 'validation_failed', 'kinds.low_balance'],
  ['PUT', '/v1/notices', { kinds: { gifts: true } }, 400, 'validation_failed', 'kinds.gifts'],
  ['PUT', '/v1/notices', { kinds: {} }, 400, 'validation_failed', 'kinds'],
  ['GET', '/v1/nothing', undefined, 404, 'not_found'],
  ['PUT', '/v1/rentals', {}, 405, 'method_not_allowed'],
  ['POST', '/v1/billing/processor/webhook', {}, 400, 'validation_failed'],
];

/** The answers of each backend, by request. */
const answers = new Map<string, unknown[]>();

export function describeRefusals(backend: () => Backend): void {
  describe('refusals', () => {
    let person: Person;
    before(async () => {
      person = await signIn(backend());
    });

    for (const [method, path, body, status, code, field] of cases) {
      const request = `${method} ${path} ${body === undefined ? '' : JSON.stringify(body)}`;
      it(`${request} is ${code}`, async () => {
        const answer = await person.json(method, path, body);
        assert.deepEqual([answer.status, answer.body.error], [status, code], JSON.stringify(answer.body));
        if (field !== undefined) {
          assert.deepEqual(
            answer.body.details.fields.map((fault) => fault.field),
            [field],
          );
        }
        const { requestId, ...said } = answer.body;
        assert.equal(answer.headers.get('X-Request-Id'), requestId);
        answers.set(request, [...(answers.get(request) ?? []), inSameWords(said)]);
      });
    }

    it('refuse strangers, foreign pages, and bodies that are no JSON', async () => {
      const stranger = await new ContractClient(backend().url).get('/v1/rentals');
      assert.deepEqual([stranger.status, stranger.body.error], [401, 'unauthorized']);
      const foreign = await person.post('/v1/rentals', {}, { Origin: 'https://evil.example' });
      assert.deepEqual([foreign.status, foreign.body.error], [403, 'forbidden']);
      const type = { 'Content-Type': 'text/plain' };
      const plain = await person.send('POST', '/v1/rentals', '{}', type);
      assert.deepEqual([plain.status, plain.body.error], [415, 'unsupported_media_type']);
    });
  });
}

/** The words of a refusal. Each backend has a catalog of its own, and so other alternatives. */
function inSameWords(said: object): unknown {
  return JSON.parse(
    JSON.stringify(said, (key, value: unknown) => (key === 'alternatives' ? typeof value : value)),
  );
}

/** Asserts, after all backends, that all of them refused each request in the same words. */
export function assertSameWords(backends: number): void {
  assert.equal(answers.size, cases.length);
  for (const [request, said] of answers) {
    assert.equal(said.length, backends, request);
    for (const each of said) assert.deepEqual(each, said[0], request);
  }
}
