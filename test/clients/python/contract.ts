import assert from 'node:assert/strict';
import { startMockBackend, startRealBackend, type Backend } from '../../contract/backends.js';
import { describeContract } from '../../contract/scenarios.js';
import {
  assertAllCalled,
  assertSameRequest,
  ContractClient,
  type Through,
} from '../../contract/through-client.js';
import { describedOperations } from '../../support/http/described.js';
import { installedPython, PythonDriver } from './support/python.js';

const backends = {
  'the mock, asked by the client that waits': { start: startMockBackend, waits: true },
  'the service, asked by the client that blocks': { start: startRealBackend, waits: false },
};

/** The name of each operation, by its method and path. */
const idOf = new Map(
  [...describedOperations()].map(([name, { operationId }]) => [
    name.replace(/^\w+/, (method) => method.toUpperCase()),
    operationId,
  ]),
);

const pairsOf = (cookie = ''): Record<string, string> =>
  Object.fromEntries(
    cookie.split('; ').map((pair): [string, string] => {
      const [name = '', ...value] = pair.split('=');
      return [name, value.join('=')];
    }),
  );

function throughPython(driver: PythonDriver, waits: boolean): Through {
  return async ({ operation, baseUrl, cookie, apiKey, ...asked }) => {
    const { received, fault, noAnswer, value, refusal } = await driver.ask({
      ...{ operationId: idOf.get(operation) ?? '', method: asked.method, path: asked.path, waits },
      ...{ id: asked.id, name: asked.name, query: asked.query, body: asked.body },
      idempotencyKey: asked.options.idempotencyKey,
      options: {
        ...{ base_url: baseUrl, session: pairsOf(cookie), retries: 0, user_agent: 'node' },
        ...(apiKey !== undefined && { api_key: apiKey }),
      },
    });
    for (const request of received) assertSameRequest(request, asked.method, baseUrl + asked.path);
    if (refusal) assert.ok(refusal.isOwnClass, `a class of its own for ${JSON.stringify(refusal.told)}`);
    const error = fault ?? noAnswer;
    return {
      received: received.map(({ status, headers, text }) => {
        const [contentType = ''] = (new Headers(headers).get('content-type') ?? '').split(';');
        return { status, headers: new Headers(headers), contentType, text };
      }),
      given: error !== undefined ? { error: new Error(error) } : refusal ? { refusal } : { value },
    };
  };
}

export function describePythonContract(): void {
  describe('the contract, through the Python client', function () {
    this.timeout(600_000);
    let python: string;
    const { through, called } = ContractClient;

    before(async () => {
      python = await installedPython();
      ContractClient.called = new Set();
    });

    for (const [name, { start, waits }] of Object.entries(backends)) {
      describe(`of ${name}`, () => {
        let backend: Backend;
        let driver: PythonDriver;
        before(async () => {
          driver = new PythonDriver(python);
          ContractClient.through = throughPython(driver, waits);
          backend = await start();
        });
        after(async () => {
          ContractClient.through = through;
          driver.stop();
          await backend.stop();
        });

        describeContract(() => backend);
      });
    }

    after(() => {
      ContractClient.called = called;
    });

    describe('of both', () => {
      it('asks every operation of the description', assertAllCalled);
    });
  });
}
