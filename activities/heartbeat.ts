import { Context } from '@temporalio/activity';

/**
 * Runs an activity's work while telling Temporal every second that this worker lives, with a detail that operators
 * see. When the worker dies, the silence moves the activity to another one.
 */
export async function withHeartbeat<T>(work: (tell: (detail: unknown) => void) => Promise<T>): Promise<T> {
  const context = Context.current();
  const said: { detail: unknown } = { detail: 'started' };
  const timer = setInterval(() => context.heartbeat(said.detail), 1_000);
  try {
    return await work((detail) => {
      said.detail = detail;
      context.heartbeat(detail);
    });
  } finally {
    clearInterval(timer);
  }
}
