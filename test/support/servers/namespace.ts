import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { registerSearchAttributes } from '../../../lab/servers/temporal.js';
import { searchAttributes } from '../../../workflows/contracts/search-attributes.js';
import { getTemporal } from './servers.js';
import { until } from '../until.js';

/** A namespace of a test file's own on the run's Temporal server, and a client in it. */
export interface TestNamespace {
  readonly address: string;
  readonly name: string;
  readonly client: Client;
  close(): Promise<void>;
}

/**
 * Makes a namespace that knows the product's search attributes (some 200 ms). The task queues and the ids of the
 * long-lived workflows are fixed, so namespaces keep the workers of one test file from the work of another. Workflows
 * that are open when the file ends never run again.
 */
export async function createTestNamespace(): Promise<TestNamespace> {
  const { address } = await getTemporal();
  const name = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address });
  try {
    await connection.workflowService.registerNamespace({
      namespace: name,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    const client = new Client({ connection, namespace: name });
    // The server's parts learn of a new namespace one after the other, within a moment.
    await until('the namespace is known', () =>
      registerSearchAttributes({ address, namespace: name }, searchAttributes).then(
        () => true,
        () => false,
      ),
    );
    await until('workflows can be listed in the namespace', () =>
      client.workflow.count(`EntityStatus = 'none'`).then(
        () => true,
        () => false,
      ),
    );
    return { address, name, client, close: () => connection.close() };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
