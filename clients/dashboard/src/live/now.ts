import { useSyncExternalStore } from 'react';

/** One timer a pace, however many ask; it stands still while nobody looks. */
class Pace {
  readonly #everyMs: number;
  readonly #watchers = new Set<() => void>();
  #now = Date.now();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  readonly read = (): number => this.#now;

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) {
      document.addEventListener('visibilitychange', this.#turn);
      this.#turn();
    }
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size > 0) return;
      document.removeEventListener('visibilitychange', this.#turn);
      clearInterval(this.#timer);
    };
  };

  readonly #turn = (): void => {
    clearInterval(this.#timer);
    if (document.hidden) return;
    this.#tick();
    this.#timer = setInterval(this.#tick, this.#everyMs);
  };

  readonly #tick = (): void => {
    this.#now = Date.now();
    for (const watcher of this.#watchers) watcher();
  };
}

const paces = new Map<number, Pace>();

function paceOf(everyMs: number): Pace {
  const known = paces.get(everyMs);
  if (known) return known;
  const pace = new Pace(everyMs);
  paces.set(everyMs, pace);
  return pace;
}

/** This computer's clock, read each so many milliseconds while the tab is looked at. */
export function useNow(everyMs = 1_000): number {
  const { watch, read } = paceOf(everyMs);
  return useSyncExternalStore(watch, read);
}
