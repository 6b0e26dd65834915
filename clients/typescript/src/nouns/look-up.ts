import { isApiError } from '../errors.js';
import { openIdOf } from '../retries.js';
import { growingPause, sleep } from '../time.js';
import type { CallOptions } from '../transport.js';

/** The service opens nothing later than 20 s after it was asked; what is not there after this was not done. */
const LOOK_FOR_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 8_000;

/**
 * Creates something, and looks it up where the service knows its id but could not tell the outcome.
 * @param endsAt of all of it, as `Date.now` tells it
 * @param create asks the service, under one Idempotency-Key each time
 * @param find what stands under an id; a 404 means that it is not there yet
 * @throws ApiError the failure, when the outcome stayed unknown
 */
export async function createOrLookUp<T>(
  signal: AbortSignal | undefined,
  endsAt: number,
  create: () => Promise<T>,
  find: (id: string, options: CallOptions) => Promise<T>,
): Promise<T> {
  try {
    return await create();
  } catch (error) {
    const id = openIdOf(error);
    if (id === undefined) throw error;
    const lookUntil = Math.min(endsAt, Date.now() + LOOK_FOR_MS);
    const found = await findUntil(lookUntil, signal, (rest) => find(id, rest));
    if (found === undefined) throw error;
    return found;
  }
}

async function findUntil<T>(
  endsAt: number,
  signal: AbortSignal | undefined,
  find: (options: CallOptions) => Promise<T>,
): Promise<T | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await find({ signal, timeoutMs: Math.max(1, endsAt - Date.now()) });
    } catch (error) {
      signal?.throwIfAborted();
      // Who may not look still has to know what may have been made.
      if (isApiError(error) && error.status < 500 && error.status !== 404) return undefined;
    }
    const pauseMs = growingPause(tries, FIRST_PAUSE_MS, PAUSE_MAX_MS);
    if (Date.now() + pauseMs >= endsAt) return undefined;
    await sleep(pauseMs, signal);
  }
}
