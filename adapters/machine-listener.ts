import { listenerReadyPath } from '../domain/machines/calls.js';
import { shareLook } from './kept.js';

/** Whether the listener of machines can be reached, as far as this process sees it. */
export interface ListenerLook {
  isHeard(): Promise<boolean>;
}

/**
 * Looks at the listener that machines call, so that nobody waits for what it can't hear. All who ask in one moment share one
 * look.
 * @param url where machines reach it, without a slash at the end; null: there is none
 * @param limits how long a look takes at most and how long it holds, in milliseconds
 * @param onAway told once each time that it is not reached any more, or not at first, with what came instead
 */
export function createListenerLook(
  url: string | null,
  { lookMs, seenMs }: { readonly lookMs: number; readonly seenMs: number },
  onAway: (found: { readonly url: string; readonly status?: number; readonly err?: unknown }) => void,
): ListenerLook {
  if (url === null) return { isHeard: () => Promise.resolve(false) };
  const target = `${url}${listenerReadyPath}`;
  let isAway = false;
  async function look(): Promise<boolean> {
    const found = await ask(target, lookMs);
    const isHeard = 'status' in found && found.status === 200;
    if (!isHeard && !isAway) onAway({ url: target, ...found });
    isAway = !isHeard;
    return isHeard;
  }
  return { isHeard: shareLook(seenMs, look) };
}

async function ask(url: string, mostMs: number): Promise<{ status: number } | { err: unknown }> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(mostMs), redirect: 'error' });
    await answer.body?.cancel();
    return { status: answer.status };
  } catch (err) {
    return { err };
  }
}
