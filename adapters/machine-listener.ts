/** Whether the listener of machines can be reached, as far as this process sees it. */
export interface ListenerLook {
  isHeard(): Promise<boolean>;
}

/**
 * Looks at the listener that machines call, so that nobody waits for what it can't hear. All who ask in one moment share one
 * look.
 * @param url where machines reach it, without a slash at the end; null: there is none
 * @param limits how long a look takes at most and how long it holds, in milliseconds
 */
export function createListenerLook(
  url: string | null,
  { lookMs, seenMs }: { readonly lookMs: number; readonly seenMs: number },
): ListenerLook {
  let seen: { readonly atMs: number; readonly heard: Promise<boolean> } | undefined;
  async function look(): Promise<boolean> {
    try {
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(lookMs), redirect: 'error' });
      await answer.body?.cancel();
      return answer.ok;
    } catch {
      return false;
    }
  }
  return {
    async isHeard() {
      if (url === null) return false;
      if (seen === undefined || performance.now() - seen.atMs > seenMs) {
        seen = { atMs: performance.now(), heard: look() };
      }
      return seen.heard;
    },
  };
}
