import { storable } from './storable.js';

/** The time since a peer's last answers, in milliseconds; Infinity where it never answered. */
export interface LastAnswers {
  /** To calls of the function that failed, whatever they asked about. */
  readonly thisCallMsAgo: number;
  readonly anyCallMsAgo: number;
}

/** A failed call of the processor, an upstream or the mail server. */
export abstract class PeerError extends Error {
  /** The peer's last answers, as this process knows them; set by `rememberingAnswers`. */
  lastAnswers: LastAnswers = { thisCallMsAgo: Infinity, anyCallMsAgo: Infinity };

  /**
   * True when the failure says nothing of the request: the peer is away, broken, wants to be left alone or no longer
   * takes our key. False: it has examined the request, and said no.
   */
  abstract get isOfPeer(): boolean;

  constructor(message: string, options?: ErrorOptions) {
    super(storable(message), options);
  }
}

/** The statuses for a caller without a key, without the right, or with too many requests. */
export const statusesOfAll: readonly number[] = [401, 403, 429];

/**
 * Adds to the failures of a peer when it last answered, as far as this process knows (decision 95, "Outages of a
 * peer"). A "no" to a request is an answer.
 * @param notCalls functions of it that ask nobody outside
 */
export function rememberingAnswers<T extends object>(peer: T, notCalls: readonly (keyof T)[] = []): T {
  const answeredAtMs = new Map<string, number>();
  const remembered = Object.entries(peer).map(([name, part]: [string, unknown]) => {
    if (typeof part !== 'function' || notCalls.some((one) => one === name)) return [name, part];
    const call = part as (...args: unknown[]) => Promise<unknown>;
    return [name, (...args: unknown[]) => remembering(answeredAtMs, name, () => call(...args))];
  });
  return Object.fromEntries(remembered) as T;
}

async function remembering(
  answeredAtMs: Map<string, number>,
  name: string,
  ask: () => Promise<unknown>,
): Promise<unknown> {
  try {
    const answer = await ask();
    answeredAtMs.set(name, performance.now());
    return answer;
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    if (!error.isOfPeer) answeredAtMs.set(name, performance.now());
    const agoMs = (atMs: number | undefined): number =>
      atMs === undefined ? Infinity : performance.now() - atMs;
    error.lastAnswers = {
      thisCallMsAgo: agoMs(answeredAtMs.get(name)),
      anyCallMsAgo: Math.min(Infinity, ...[...answeredAtMs.values()].map(agoMs)),
    };
    throw error;
  }
}
