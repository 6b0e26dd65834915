import { Context } from '@temporalio/activity';

/**
 * Runs an activity's work while telling Temporal every second that this worker lives, with a detail that operators
 * see. When the worker dies, the silence moves the activity to another one.
 * @param everyMs more than a second for what runs a thousandfold: a new detail then goes out with the next beat
 */
export async function withHeartbeat<T>(
  work: (tell: (detail: unknown) => void) => Promise<T>,
  everyMs = 1_000,
): Promise<T> {
  const context = Context.current();
  const said: { detail: unknown } = { detail: 'started' };
  const timer = setInterval(() => context.heartbeat(said.detail), everyMs);
  try {
    return await work((detail) => {
      said.detail = detail;
      if (everyMs <= 1_000) context.heartbeat(detail);
    });
  } finally {
    clearInterval(timer);
  }
}
