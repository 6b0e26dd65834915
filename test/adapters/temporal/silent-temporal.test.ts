import assert from 'node:assert/strict';
import { isGrpcDeadlineError } from '@temporalio/client';
import { connectTemporal, type TemporalClient } from '../../../adapters/temporal/client.js';
import { signalRental } from '../../../adapters/temporal/signal-workflow.js';
import { newId } from '../../../adapters/ids.js';
import { createTestNamespace, type TestNamespace } from '../../support/servers/namespace.js';
import { openSilentWay, type SilentWay } from '../../support/http/silent-way.js';
import { until } from '../../support/until.js';

describe('a Temporal that goes silent', () => {
  let namespace: TestNamespace;
  let way: SilentWay;
  let client: TemporalClient;

  before(async () => {
    namespace = await createTestNamespace();
    way = await openSilentWay(Number(namespace.address.split(':')[1]));
    const place = { address: `127.0.0.1:${way.port}`, namespace: namespace.name };
    client = await connectTemporal(place, 500);
  });
  after(async () => {
    await client.connection.close();
    await way.close();
    await namespace.close();
  });

  const calls: Record<string, () => Promise<unknown>> = {
    'signalling a workflow': () => signalRental(client.workflow, newId('rent')),
    'describing one': () => client.workflow.getHandle('nobody').describe(),
    'listing them': async () => {
      for await (const execution of client.workflow.list()) assert.ok(execution.workflowId);
    },
  };

  it('ends each call by its deadline, and is reached again over a fresh connection', async () => {
    await signalRental(client.workflow, newId('rent'));
    way.silence();
    for (const [what, call] of Object.entries(calls)) {
      const startedMs = performance.now();
      const error = await call().then(
        () => assert.fail(`${what} was answered`),
        (failure: unknown) => failure,
      );
      assert.ok(hasDeadline(error), `${what}: ${String(error)}`);
      assert.ok(performance.now() - startedMs < 5_000, what);
    }
    await until('a call is answered', () =>
      signalRental(client.workflow, newId('rent')).then(
        () => true,
        () => false,
      ),
    );
    assert.equal(way.closed, way.silent, 'the silent connection is gone');
  });
});

/** Whether a deadline is among the causes: the client wraps errors of the connection, some of them twice. */
function hasDeadline(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { cause } = error;
  return isGrpcDeadlineError(error) || hasDeadline(cause);
}
