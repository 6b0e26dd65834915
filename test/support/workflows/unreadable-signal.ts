import type { TestNamespace } from '../servers/namespace.js';

/** Sends a signal whose payload no converter knows: each task of the run fails from then on. */
export async function sendUnreadable(
  { client, name }: TestNamespace,
  workflowId: string,
  signalName: string,
): Promise<void> {
  const encoding = new TextEncoder().encode('binary/unknown');
  await client.workflowService.signalWorkflowExecution({
    namespace: name,
    workflowExecution: { workflowId },
    signalName,
    input: { payloads: [{ metadata: { encoding }, data: new Uint8Array([1]) }] },
  });
}
