/**
 * The queues of the worker. Slow activities have their own queue: a hundred slow pods on a shared one would block every
 * create, stop and settlement (the SDK's default is 100 activity slots).
 */
export const taskQueues = {
  /** Workflows and the activities that move money. */
  rentals: 'rentals',
  /** Waiting for pods and ending them: many slots. */
  upstream: 'upstream',
  /** The tick engine and the watchers, which run for minutes. */
  meter: 'meter',
  mail: 'mail',
  /** Sending events to users' endpoints, which may let us wait. */
  webhooks: 'webhooks',
} as const;
