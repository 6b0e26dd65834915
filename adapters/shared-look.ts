/**
 * Makes a look that all who ask in one moment share, so that many cost no more than one.
 * @param keptMs how long its end holds for the next who ask, in milliseconds
 * @returns the look; it throws whatever that of the moment threw
 */
export function shareLook<T>(keptMs: number, look: () => Promise<T>): () => Promise<T> {
  let kept: { readonly look: Promise<T>; untilMs: number } | undefined;
  return () => {
    if (kept === undefined || performance.now() >= kept.untilMs) {
      const current = { look: look(), untilMs: Infinity };
      const end = (): void => {
        current.untilMs = performance.now() + keptMs;
      };
      current.look.then(end, end);
      kept = current;
    }
    return kept.look;
  };
}
