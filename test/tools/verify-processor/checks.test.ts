import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readApiDescription, type ApiDescription } from '../../../tools/verify-processor/api-description.js';
import { checkEvent, checkExchange, replay } from '../../../tools/verify-processor/checks.js';
import type { Exchange } from '../../../tools/verify-processor/recording-proxy.js';

const text = { type: 'string' };
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const form = (schema: object) => ({ content: { 'application/x-www-form-urlencoded': { schema } } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const object = (kind: string, properties: object, required: string[] = []) => ({
  type: 'object',
  required: ['object', ...required],
  properties: { object: { enum: [kind] }, ...properties },
});

/** A small API in the style of the processor's description. */
const description = {
  info: { version: '2026-01-01.small' },
  paths: {
    '/v1/payments': {
      post: {
        requestBody: form({
          type: 'object',
          required: ['amount'],
          properties: {
            amount: { type: 'integer' },
            details: { type: 'object', properties: { note: text } },
            methods: { type: 'array', items: text },
            metadata: { type: 'object', additionalProperties: text },
          },
        }),
        responses: { '200': json(ref('payment')), default: json(ref('error')) },
      },
      get: {
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
        responses: {
          '200': json({
            type: 'object',
            properties: { object: { enum: ['list'] }, data: { type: 'array', items: ref('payment') } },
          }),
        },
      },
    },
    '/v1/webhook_endpoints': {
      post: {
        requestBody: form({
          type: 'object',
          properties: { enabled_events: { type: 'array', items: { enum: ['payment.made'] } } },
        }),
        responses: {},
      },
    },
  },
  components: {
    schemas: {
      error: { type: 'object', required: ['error'], properties: { error: { type: 'object' } } },
      payment: object(
        'payment',
        { amount: { type: 'integer' }, card: { anyOf: [text, ref('card')], nullable: true } },
        ['amount'],
      ),
      card: object('card', { last4: { ...text, nullable: true } }, ['last4']),
      event: object('event', {
        type: text,
        data: { type: 'object', properties: { object: { type: 'object' } } },
      }),
    },
  },
};

const payment = { object: 'payment', amount: 5, card: null };
const made: Exchange = {
  method: 'POST',
  path: '/v1/payments',
  query: '',
  headers: {},
  body: 'amount=5&details[note]=x&methods[0]=card&metadata[any]=thing',
  status: 200,
  answer: payment,
};

describe('the verification of the lab’s processor', () => {
  let folder: string;
  let api: ApiDescription;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'verify-checks-'));
    await writeFile(path.join(folder, 'spec.json'), JSON.stringify(description));
    api = readApiDescription(path.join(folder, 'spec.json'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('finds nothing in what is as described', () => {
    assert.deepEqual(checkExchange(api, made), []);
    const expanded = { ...payment, card: { object: 'card', last4: null } };
    assert.deepEqual(checkExchange(api, { ...made, answer: expanded }), []);
    const list = { object: 'list', data: [expanded] };
    assert.deepEqual(
      checkExchange(api, { ...made, method: 'GET', query: 'limit=3', body: '', answer: list }),
      [],
    );
    const event = { object: 'event', type: 'payment.made', data: { object: expanded } };
    assert.deepEqual(checkEvent(api, event), []);
  });

  const wrong: [what: string, changes: Partial<Exchange>, reason: RegExp][] = [
    ['an unknown field of a form', { body: 'amount=5&color=red' }, /^body .*\(color\)$/],
    [
      'an unknown field of a group in a form',
      { body: 'amount=5&details[color]=red' },
      /^body \/details .*\(color\)$/,
    ],
    ['a field of the wrong type', { body: 'amount=five' }, /^body \/amount must be integer$/],
    ['a field that is missing', { body: '' }, /^body .*required property 'amount'$/],
    ['a text where a list belongs', { body: 'amount=5&methods[a]=card' }, /^body \/methods must be array$/],
    [
      'an unknown field of a query',
      { method: 'GET', query: 'color=red', body: '', answer: { object: 'list' } },
      /^query .*\(color\)$/,
    ],
    ['an unknown path', { path: '/v1/payment' }, /no such operation/],
    [
      'an unknown field of an answer',
      { answer: { ...payment, color: 'red' } },
      /^answer payment.*\(color\)$/,
    ],
    [
      'a field that an answer lacks',
      { answer: { object: 'payment' } },
      /^answer .*required property 'amount'$/,
    ],
    [
      'an answer of another kind',
      { answer: { object: 'card', last4: '4242' } },
      /^answer \/object must be equal/,
    ],
    [
      'an expanded object that is wrong',
      { answer: { ...payment, card: { object: 'card', last4: 5 } } },
      /^answer card\/card\/last4/,
    ],
    [
      'an object of an unknown kind',
      { answer: { ...payment, card: { object: 'coin' } } },
      /unknown kind \(coin\)/,
    ],
    ['an error without its error', { status: 402, answer: {} }, /^answer .*required property 'error'$/],
  ];
  for (const [what, changes, reason] of wrong) {
    it(`finds ${what}`, () => {
      const reasons = checkExchange(api, { ...made, ...changes }).map((finding) => finding.reason);
      assert.ok(
        reasons.some((line) => reason.test(line)),
        reasons.join('\n'),
      );
    });
  }

  it('does not hold against a request that the simulator refused it as well', () => {
    const refused = { ...made, body: 'color=red', status: 400, answer: { error: {} } };
    assert.deepEqual(checkExchange(api, refused), []);
  });

  it('finds an event that the API does not have, and a wrong object in one', () => {
    const event = { object: 'event', type: 'payment.lost', data: { object: { object: 'payment' } } };
    const reasons = checkEvent(api, event).map((finding) => finding.reason);
    assert.equal(reasons[0], 'the API has no such event');
    assert.match(reasons[1] ?? '', /required property 'amount'/);
  });

  it('finds what stripe-mock refuses of what the simulator took', async () => {
    const server: Server = createServer((request, response) => {
      response.writeHead(request.url === '/v1/payments' ? 400 : 200).end('unknown parameter');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const [finding] = await replay(made, url);
      assert.match(finding?.reason ?? '', /stripe-mock refuses it: unknown parameter/);
      assert.deepEqual(await replay({ ...made, status: 400 }, url), []);
      assert.deepEqual(await replay({ ...made, path: '/v1/other' }, url), []);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
