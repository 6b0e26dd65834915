import assert from 'node:assert/strict';
import { clientCalls } from '../../contract/through-client.js';
import { describedOperations } from '../../support/http/described.js';

/** What no client calls: pages for people, the processor, whoever watches the service; and the stream, which follows. */
const others = [
  'GET /',
  'GET /app/billing',
  'GET /docs',
  'GET /docs/{file}',
  'GET /healthz',
  'GET /readyz',
  'GET /v1/auth/oauth/{provider}/callback',
  'GET /v1/auth/oauth/{provider}/start',
  'GET /v1/events/stream',
  'GET /v1/notices/unsubscribe',
  'GET /v1/openapi.json',
  'POST /v1/billing/processor/webhook',
  'POST /v1/notices/unsubscribe',
];

describe('the calls of the typed client', () => {
  it('are one for each operation that is described', () => {
    const described = [...describedOperations().keys()].map((name) =>
      name.replace(/^\w+/, (method) => method.toUpperCase()),
    );
    assert.deepEqual([...Object.keys(clientCalls), ...others].sort(), described.sort());
  });
});
