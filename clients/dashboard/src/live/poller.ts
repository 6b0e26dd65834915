import { liveStore } from './store.js';

/** A stream that is back sooner leaves nothing to ask for. */
const BEGIN_AFTER_MS = 6_000;
const FIRST_PAUSE_MS = 5_000;
const PAUSE_MAX_MS = 60_000;
const GROWTH = 1.5;

/** Asks the service now and then while there is no stream, less often the longer it lasts, and never for a hidden tab. */
export class Poller {
  readonly #ask: () => void;
  readonly #onVisible = (): void => this.#seen();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(ask: () => void) {
    this.#ask = ask;
    this.begin();
    document.addEventListener('visibilitychange', this.#onVisible);
  }

  /** The stream is gone. */
  begin(): void {
    if (this.#timer !== undefined) return;
    this.#pauseMs = FIRST_PAUSE_MS;
    liveStore.change({ connection: 'reconnecting', lostAtMs: Date.now() });
    this.#timer = setTimeout(() => this.#poll(), BEGIN_AFTER_MS);
  }

  /** The stream is back. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    liveStore.change({ connection: 'live', lostAtMs: undefined });
  }

  stop(): void {
    clearTimeout(this.#timer);
    document.removeEventListener('visibilitychange', this.#onVisible);
  }

  #poll(): void {
    if (liveStore.read().connection !== 'polling') {
      // What the stream said is older than what is asked for from now on.
      liveStore.change({ connection: 'polling', balance: undefined, meters: {} });
    }
    if (!document.hidden) this.#ask();
    this.#timer = setTimeout(() => this.#poll(), this.#pauseMs);
    this.#pauseMs = Math.min(PAUSE_MAX_MS, this.#pauseMs * GROWTH);
  }

  /** Somebody looks again: what is shown may be as old as they were away. */
  #seen(): void {
    if (document.hidden || liveStore.read().connection !== 'polling') return;
    clearTimeout(this.#timer);
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#poll();
  }
}
