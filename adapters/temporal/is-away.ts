import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { watermarkWorkflowId } from '../../workflows/contracts/watermark.js';

/** The longest answer time of a server that counts as reachable. */
const PROBE_LIMIT_MS = 2_000;

/**
 * Tells whether Temporal is away. It asks for one workflow that is no user's, which takes the server and its store.
 * Never throws.
 */
export async function isTemporalAway(temporal: Client): Promise<boolean> {
  try {
    await temporal.withDeadline(Date.now() + PROBE_LIMIT_MS, () =>
      temporal.workflow.getHandle(watermarkWorkflowId).describe(),
    );
    return false;
  } catch (error) {
    return !(error instanceof WorkflowNotFoundError);
  }
}
