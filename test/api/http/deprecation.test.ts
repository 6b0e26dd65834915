import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createFrame, createPlainRouter } from '../../../api/http/frame.js';
import { describeOperation, operations } from '../../../api/http/openapi/document.js';
import { object, text } from '../../../api/http/openapi/json-schema.js';
import { operation, type Deprecation } from '../../../api/http/openapi/operation.js';
import { serve } from '../../../api/http/serve.js';
import { DAY } from '../../../domain/durations.js';
import { Refusal } from '../../../domain/refusal.js';

/** A route that is going. */
function going(deprecated: Deprecation) {
  return operation({
    ...({
      method: 'get',
      path: '/v1/old',
      name: 'showOld',
      tag: 'Service',
      summary: 'An old route',
    } as const),
    isPublic: true,
    deprecated,
    answers: [{ description: 'It.', schema: object({ it: text }), examples: [{ it: 'x' }] }],
  });
}

/** Asks for a route that answers so. */
async function ask(declared: ReturnType<typeof going>, answer: () => { it: string }): Promise<Response> {
  const router = createPlainRouter();
  serve(router, { settings: { secureCookie: false, publicPrices: false } }, declared, async () =>
    Promise.resolve(answer()),
  );
  const frame = { log: pino({ level: 'silent' }), allowedOrigins: [], trustProxy: false };
  const app = createFrame({ ...frame, dashboardUrl: 'http://127.0.0.1', overTls: false }, router);
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return await fetch(`http://127.0.0.1:${port}/v1/old`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe('a deprecated part of the API', () => {
  const dates = { since: '2027-01-01T00:00:00Z', goesAt: '2028-01-01T00:00:00Z' };

  it('is told by each answer, refusals too', async () => {
    const refuse = (): never => {
      throw new Refusal('not_found', 'There is none.');
    };
    for (const [answer, expected] of [
      [() => ({ it: 'x' }), 200],
      [refuse, 404],
    ] as const) {
      const { status, headers } = await ask(going(dates), answer);
      assert.equal(status, expected);
      assert.equal(headers.get('deprecation'), '@1798761600');
      assert.equal(headers.get('sunset'), 'Sat, 01 Jan 2028 00:00:00 GMT');
    }
  });

  it('is told by the description: a route as deprecated, a field in words', () => {
    const whole = describeOperation(going(dates));
    assert.equal(whole['deprecated'], true);
    assert.match(
      String(whole['description']),
      /Deprecated since 2027-01-01: it may go from 2028-01-01 on\.$/,
    );
    const field = describeOperation(going({ ...dates, field: 'provider' }));
    assert.equal(field['deprecated'], undefined);
    assert.match(
      String(field['description']),
      /Deprecated since 2027-01-01: `provider` may go from 2028-01-01 on\.$/,
    );
    const headers = (whole['responses'] as Record<string, { headers?: object }>)['200']?.headers ?? {};
    assert.ok('Deprecation' in headers && 'Sunset' in headers);
  });

  it('stays for a year', () => {
    for (const { name, deprecated } of operations) {
      if (deprecated === undefined) continue;
      const { since, goesAt } = deprecated;
      assert.ok(Date.parse(goesAt) - Date.parse(since) >= 365 * DAY, name);
    }
  });
});
