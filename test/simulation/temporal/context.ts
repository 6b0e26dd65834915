import { asyncLocalStorage, CancelledFailure, Context } from '@temporalio/activity';

/**
 * Runs an activity's code in the context that a worker gives it.
 * @param server over: resolves when the server has given the try up; rest: how a loop sleeps, absent for other activities,
 *   which sleep by the clock; beat: takes the details of a heartbeat
 */
export function runWithContext<T>(
  info: object,
  {
    over,
    rest,
    beat,
  }: {
    readonly over: Promise<void>;
    readonly rest: ((ms: number) => Promise<void>) | undefined;
    readonly beat: (details: unknown) => void;
  },
  work: () => Promise<T>,
): Promise<T> {
  const aborted = new AbortController();
  const cancelled = over.then(() => {
    const failure = new CancelledFailure('the server has given the try up');
    aborted.abort(failure);
    throw failure;
  });
  cancelled.catch(() => undefined);
  const unused = undefined as never;
  const context = new Context(
    info as never,
    cancelled,
    aborted.signal,
    beat,
    ...([undefined, unused, unused, unused] as const),
  );
  const sleeping = rest === undefined ? {} : { sleep: (ms: number) => Promise.race([cancelled, rest(ms)]) };
  Object.assign(context, sleeping);
  return asyncLocalStorage.run(context, work);
}
