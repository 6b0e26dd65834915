import { asyncLocalStorage, CancelledFailure, Context } from '@temporalio/activity';

/** An activity that runs without a server: what it beats is kept, and it can be cancelled as a worker's stop does. */
export interface LoneActivity<T> {
  readonly result: Promise<T>;
  /** The details of its beats, the oldest first. */
  readonly beats: unknown[];
  /** Its next pause, or the one it is in, throws; `result` then fails. */
  cancel(): void;
}

/**
 * Runs an activity's code as a worker would, in this process and without Temporal.
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
