import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { once } from 'node:events';
import Stripe from 'stripe';
import { processorEventsPath } from '../../../api/processor-events/path.js';
import { requestLimits } from '../../../domain/requests/limits.js';
import type { Answer } from '../../support/http/answers.js';
import { describedOperations } from '../../support/http/described.js';
import { startApi, webhookSecret, type SignedIn, type TestApi } from '../../support/http/api.js';

/** The CPU time that an attack may take in this process, whatever else the machine does. One took three seconds. */
const CPU_LIMIT_MS = 500;
const ANSWER_LIMIT_CHARS = 12_000;
const json = { 'Content-Type': 'application/json' };

describe('a hostile request', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
    user = await api.signIn();
    // The code compiled at the first use must not count.
    await user.post('/v1/rentals', { a: 1 });
    await user.get('/v1/rentals?a=1');
  });
  after(() => api.stop());

  /** Sends a request, and asserts that its refusal cost next to nothing. */
  async function cheaply(send: () => Promise<Answer>): Promise<Answer> {
    const begun = process.cpuUsage();
    const answer = await send();
    const { user: userUs, system } = process.cpuUsage(begun);
    const cpuMs = (userUs + system) / 1_000;
    assert.ok(cpuMs < CPU_LIMIT_MS, `it took ${cpuMs} ms of CPU time`);
    const told = JSON.stringify(answer.body).length;
    assert.ok(told < ANSWER_LIMIT_CHARS, `it was answered with ${told} characters`);
    return answer;
  }

  /** The longest body of a shape that is still read. */
  function largest(item: (index: number) => string, open: string, close: string): string {
    const parts: string[] = [];
    let length = open.length + close.length;
    for (let index = 0; ; index += 1) {
      const part = item(index);
      length += part.length + 1;
      if (length > requestLimits.bodyMaxBytes) return `${open}${parts.join(',')}${close}`;
      parts.push(part);
    }
  }

  const rental = '"familyId":"rtx-4090","gpuCount":1';
  const half = requestLimits.bodyMaxBytes / 2 - 64;
  const shapes: [what: string, body: string][] = [
    ['unknown fields', largest((index) => `"k${index}":0`, '{', '}')],
    ['as many unknown fields as are looked at', fieldsOf(requestLimits.bodyMaxFields)],
    ['a long list', largest((index) => `"${index}"`, `{${rental},"sshKeyIds":[`, ']}')],
    ['a list of the same', largest(() => '0', `{${rental},"sshKeyIds":[`, ']}')],
    ['a list of lists', largest(() => '[]', `{${rental},"sshKeyIds":[`, ']}')],
    ['nested lists', `{${rental},"sshKeyIds":${'['.repeat(half)}${']'.repeat(half)}}`],
    ['nested objects', `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`],
    ['a long name of a field', `{"${'k'.repeat(16_000)}":1}`],
    ['a long text', `{${rental},"name":"${'\\u0007'.repeat(2_500)}"}`],
  ];
  for (const [what, body] of shapes) {
    it(`is refused small and at once: ${what}`, async () => {
      assert.ok(body.length <= requestLimits.bodyMaxBytes);
      const answer = await cheaply(() => user.send('POST', '/v1/rentals', body, json));
      assert.equal(answer.status, 400);
      assert.ok(answer.body.details.fields.length <= requestLimits.faultsTold);
    });
  }

  /** Two dozen short texts, too many for the answer. */
  function fieldsOf(count: number): string {
    return `{${Array.from({ length: count }, (_, index) => `"${'x'.repeat(100)}${index}":0`).join(',')}}`;
  }

  it('is refused unread when it announces more, whoever sends it', async () => {
    const body = `{"sshKeyIds":[${'"a",'.repeat(250_000)}"a"]}`;
    for (const client of [user, api.stranger()]) {
      const answer = await cheaply(() => client.send('POST', '/v1/rentals', body, json)).catch(
        () => undefined,
      );
      // The connection may close while the body is still being sent.
      if (answer) assert.equal(answer.status, client === user ? 413 : 401);
    }
  });

  it('is refused for its query: too many parameters, or too long', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `k${index}=1`).join('&');
    for (const query of [many, `model=${'x'.repeat(8_000)}`, 'model=1&'.repeat(900)]) {
      const answer = await cheaply(() => user.get(`/v1/catalog/listings?${query}`));
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
      assert.equal(answer.body.details.fields[0]!.field, 'query');
    }
  });

  it('is answered at the ends of each number that a query may hold', async () => {
    const tried: string[] = [];
    for (const [route, { parameters = [] }] of describedOperations()) {
      const path = route.replace('get ', '');
      for (const { name, schema } of parameters.filter(({ schema }) => schema['type'] === 'integer')) {
        for (const value of [schema['minimum'] ?? 0, schema['maximum'] ?? Number.MAX_SAFE_INTEGER]) {
          const query = `${path}?${name}=${value as number}`;
          const { status } = await user.get(query);
          assert.ok(
            status === 200 || status === 404 || status === 409,
            `${query} is answered with ${status}`,
          );
          tried.push(query);
        }
      }
    }
    assert.ok(tried.length >= 12, `${tried.length} were tried`);
  });

  it('is not echoed when its path is long', async () => {
    const answer = await cheaply(() => user.get(`/${'a'.repeat(8_000)}`));
    assert.equal(answer.status, 404);
    assert.ok(answer.body.message.length < 300);
  });

  describe('at the webhook', () => {
    const big = 'x'.repeat(requestLimits.eventMaxBytes);
    const fresh = Math.floor(Date.now() / 1_000);
    const unsigned: [what: string, headers: Record<string, string>][] = [
      ['has no signature', {}],
      ['has one that is none', { 'Stripe-Signature': `t=${fresh},v1=00` }],
      ['has one without a time', { 'Stripe-Signature': `v1=${'0'.repeat(64)}` }],
      ['has one of yesterday', { 'Stripe-Signature': `t=${fresh - 86_400},v1=${'0'.repeat(64)}` }],
      ['has a thousand of them', { 'Stripe-Signature': `t=${fresh}${`,v1=${'0'.repeat(64)}`.repeat(100)}` }],
    ];
    for (const [what, headers] of unsigned) {
      it(`is refused before its body is sent: one that ${what}`, async () => {
        const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(
          `POST ${processorEventsPath} HTTP/1.1\r\nHost: a\r\nContent-Length: ${big.length}\r\n${lines.join('')}\r\n`,
        );
        const [head] = (await once(socket, 'data')) as [Buffer];
        socket.destroy();
        assert.match(head.toString(), /^HTTP\/1\.1 400 /);
      });
    }

    it('is refused cheaply when only its bytes tell that it is forged', async () => {
      const header = Stripe.webhooks.generateTestHeaderString({ payload: 'other', secret: webhookSecret });
      const answer = await cheaply(() =>
        api.stranger().send('POST', processorEventsPath, big, { 'Stripe-Signature': header }),
      );
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
    });
  });

  it('{} names the first field that is missing, under the code of all fields', async () => {
    const answer = await user.post('/v1/rentals', {});
    assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
    assert.match(answer.body.message, /^The request is invalid: familyId is missing: add it/);
    const amount = await user.post('/v1/billing/checkout', {});
    assert.deepEqual([amount.status, amount.body.error], [400, 'invalid_amount']);
    const count = await user.post('/v1/rentals', { familyId: 'rtx-4090' });
    assert.deepEqual([count.status, count.body.error], [400, 'invalid_count']);
  });
});
