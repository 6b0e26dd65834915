import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { watermarkWorkflowId } from '../../workflows/contracts/watermark.js';

/** How long the server may take to be held for there. */
const PROBE_LIMIT_MS = 2_000;

/** Asks something that takes the server and its store, of one workflow that is nobody's. Never throws. */
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
