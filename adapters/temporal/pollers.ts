import type { Client } from '@temporalio/client';

/** The tasks that a worker polls for: one queue, one kind. */
export interface Poll {
  readonly queue: string;
  readonly kind: 'workflow' | 'activity';
}

/** A poller of a queue, as the server knows it. */
export interface Poller {
  readonly identity: string;
  /** When the server last heard it poll, by the server's clock; only whether it changes counts. */
  readonly lastAskedAt: string;
}

const ASK_LIMIT_MS = 3_000;

/** As temporal.api.enums.v1.TaskQueueType numbers them. */
const kindNumbers = { workflow: 1, activity: 2 } as const;

/** Asks the Temporal server who polls, within 3 s. */
export function pollersAt({
  connection,
  options: { namespace },
}: Client): (poll: Poll) => Promise<readonly Poller[]> {
  return async ({ queue, kind }) => {
    const request = { namespace, taskQueue: { name: queue }, taskQueueType: kindNumbers[kind] };
    const { pollers } = await connection.withDeadline(Date.now() + ASK_LIMIT_MS, () =>
      // The enum's own package is none of ours.
      // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment
      connection.workflowService.describeTaskQueue(request),
    );
    return pollers.map(({ identity, lastAccessTime }) => ({
      identity: identity ?? '',
      lastAskedAt: `${String(lastAccessTime?.seconds)}.${String(lastAccessTime?.nanos)}`,
    }));
  };
}
