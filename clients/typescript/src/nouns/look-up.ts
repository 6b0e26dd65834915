import { isApiError } from '../errors.js';
import { growingPause, sleep } from '../time.js';
import type { CallOptions } from '../transport.js';

/** The service opens nothing later than 20 s after it was asked; what is not there after this was not done. */
const LOOK_FOR_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 8_000;

/**
 * Creates something, and looks it up where the service knows its id but could not tell the outcome.
 * @param options of the caller: signal and the time for all of it
 * @param create asks the service, under one Idempotency-Key each time
 * @param idOf the id that a failure names when its outcome is unknown
 * @param find what stands under an id; a 404 means that it is not there yet
 * @throws ApiError the failure, when the outcome stayed unknown
 */
export async function lookUp<T>(
  options: CallOptions | undefined,
  create: (options: CallOptions) => Promise<T>,
  idOf: (error: unknown) => string | undefined,
  find: (id: string, options: CallOptions) => Promise<T>,
): Promise<T> {
  const rest = { signal: options?.signal, timeoutMs: options?.timeoutMs };
  try {
    return await create(rest);
  } catch (error) {
    const id = idOf(error);
    if (id === undefined) throw error;
    const found = await findWithin(LOOK_FOR_MS, id, rest, find);
    if (found !== undefined) return found;
    throw error;
  }
}

async function findWithin<T>(
  limitMs: number,
  id: string,
  options: CallOptions,
  find: (id: string, options: CallOptions) => Promise<T>,
): Promise<T | undefined> {
  const endsAt = Date.now() + limitMs;
  for (let tries = 1; ; tries += 1) {
    try {
      return await find(id, options);
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      if (isApiError(error) && error.status < 500 && error.status !== 404) throw error;
    }
    const pauseMs = growingPause(tries, FIRST_PAUSE_MS, PAUSE_MAX_MS);
    if (Date.now() + pauseMs >= endsAt) return undefined;
    await sleep(pauseMs, options.signal);
  }
}
