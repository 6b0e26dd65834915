interface Store<Key, Held> {
  get(key: Key): Held | undefined;
  set(key: Key, held: Held): unknown;
  delete(key: Key): unknown;
}

interface Held<T> {
  readonly read: Promise<T>;
  readonly untilMs: number;
}

/**
 * Reads a thing and keeps it for a while. Callers at the same time share one read; one that fails is read again by the
 * next.
 * @param store what holds one read of each key: its keys must be few
 * @param ms for how long
 */
export function keptFor<Key, T>(
  store: Store<Key, Held<T>>,
  ms: number,
  read: (key: Key) => Promise<T>,
): (key: Key) => Promise<T> {
  return (key) => {
    const last = store.get(key);
    if (last !== undefined && performance.now() < last.untilMs) return last.read;
    const reading = read(key).catch((error: unknown) => {
      store.delete(key);
      throw error;
    });
    store.set(key, { read: reading, untilMs: performance.now() + ms });
    return reading;
  };
}
