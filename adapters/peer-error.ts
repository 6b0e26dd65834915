/** How long ago a peer answered, whatever it was asked about; in milliseconds, Infinity where it never did. */
export interface LastAnswers {
  /** The call that failed. */
  readonly thisCallMsAgo: number;
  readonly anyCallMsAgo: number;
}

/** A failed call of the processor, an upstream or the mail server. */
export abstract class PeerError extends Error {
  /** What this process knows of the peer's answers: `rememberingAnswers` tells. */
  lastAnswers: LastAnswers = { thisCallMsAgo: Infinity, anyCallMsAgo: Infinity };

  /**
   * Whether it says nothing of what was asked: the peer is away, broken, wants to be left alone or takes our key no
   * more. False: it has looked at what it was asked, and said no.
   */
  abstract get isOfPeer(): boolean;
}

/** What a peer answers to whoever has no key, no right or no patience. */
export const statusesOfAll: readonly number[] = [401, 403, 429];

/**
 * Lets the failures of a peer tell when it last answered, as far as this process knows (decision 95, "Outages of a
 * peer"). A "no" about what was asked is an answer.
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
