interface Store<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
  delete(key: Key): unknown;
}

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

/**
 * Makes such a look of each key; one that fails is read again by the next who ask.
 * @param store what holds the looks: its keys must be few
 */
export function keptFor<Key, T>(
  store: Store<Key, () => Promise<T>>,
  keptMs: number,
  read: (key: Key) => Promise<T>,
): (key: Key) => Promise<T> {
  return (key) => {
    const known = store.get(key);
    if (known) return known();
    const look = shareLook(keptMs, () =>
      read(key).catch((error: unknown) => {
        store.delete(key);
        throw error;
      }),
    );
    store.set(key, look);
    return look();
  };
}
