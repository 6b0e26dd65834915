import { asyncLocalStorage, CancelledFailure, Context } from '@temporalio/activity';

/**
 * Runs an activity's code in the context that a worker gives it.
 * @param over resolves when the server has given the try up
 * @param rest how a loop sleeps; absent for other activities, which sleep by the clock
 */
export function runWithContext<T>(
  info: object,
  over: Promise<void>,
  rest: ((ms: number) => Promise<void>) | undefined,
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
    () => undefined,
    ...([undefined, unused, unused, unused] as const),
  );
  const sleeping = rest === undefined ? {} : { sleep: (ms: number) => Promise.race([cancelled, rest(ms)]) };
  Object.assign(context, sleeping);
  return asyncLocalStorage.run(context, work);
}
