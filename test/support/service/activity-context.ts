import { asyncLocalStorage, CancelledFailure, Context } from '@temporalio/activity';

/**
 * An activity that runs without a server. It records its heartbeats, and a test can cancel it as a worker's stop does.
 */
export interface LoneActivity<T> {
  readonly result: Promise<T>;
  /** The details of its heartbeats, oldest first. */
  readonly beats: unknown[];
  /** Makes its current or next pause throw; `result` then fails. */
  cancel(): void;
}

/**
 * Runs an activity's code in this process as a worker would, without Temporal.
 * @param attempt 1 is its first try
 */
export function runAlone<T>(activity: () => Promise<T>, attempt = 1): LoneActivity<T> {
  const beats: unknown[] = [];
  const held: { cancel?: () => void } = {};
  const cancelled = new Promise<never>((_resolve, reject) => {
    held.cancel = () => reject(new CancelledFailure('the test has seen enough'));
  });
  cancelled.catch(() => undefined);
  const unused = undefined as never;
  const context = new Context(
    { attempt } as never,
    cancelled,
    new AbortController().signal,
    (details) => void beats.push(details),
    ...([undefined, unused, unused, unused] as const),
  );
  return { result: asyncLocalStorage.run(context, activity), beats, cancel: () => held.cancel?.() };
}
