const LOCK = 'gpu-rental:stream';

/** A leader that has not answered for so long does not run any more. */
const ANSWER_WITHIN_MS = 4_000;
const LOOK_EVERY_MS = 5_000;
const QUIET_MS = 15_000;

interface Candidate {
  /** Leads until the signal ends it. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
  /** Asks the leader for a sign of life. */
  readonly ask: () => void;
}

/**
 * Elects one of the browser's tabs, as long as this one stands: whoever holds the lock leads, and the browser gives it
 * to the next one when a tab is gone. A tab that is put to sleep gives it back; from one that is silent it is taken.
 */
export class Election {
  readonly #candidate: Candidate;
  readonly #end = new AbortController();
  #term: AbortController | undefined;
  #heardAtMs = Date.now();
  #isInLine = false;

  constructor(candidate: Candidate) {
    this.#candidate = candidate;
    void this.#stand();
    this.#watchPage();
    const looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#end.signal.addEventListener('abort', () => clearInterval(looking));
  }

  get isLeader(): boolean {
    return this.#term !== undefined;
  }

  /** The leader gave a sign of life. */
  heard(): void {
    this.#heardAtMs = Date.now();
  }

  stop(): void {
    this.#end.abort();
    this.#term?.abort();
  }

  /** Stands in line for the lock, once. */
  async #stand(): Promise<void> {
    if (this.#isInLine || this.isLeader || this.#end.signal.aborted) return;
    this.#isInLine = true;
    try {
      await this.#request({ signal: this.#end.signal });
    } finally {
      this.#isInLine = false;
    }
  }

  async #request(options: LockOptions): Promise<void> {
    // Pages that came without TLS have no locks: each holds a stream of its own, as far as the service lets it.
    if (!('locks' in navigator)) return this.#lead();
    try {
      await navigator.locks.request(LOCK, options, () => {
        this.#isInLine = false;
        return this.#lead();
      });
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      if (this.#end.signal.aborted) return;
      // Another tab took the lock, because this one was silent: it stands in line again.
      this.#term?.abort();
      this.#term = undefined;
      void this.#stand();
    }
  }

  async #lead(): Promise<void> {
    if (this.#end.signal.aborted) return;
    const term = new AbortController();
    this.#term = term;
    try {
      await this.#candidate.lead(term.signal);
    } finally {
      if (this.#term === term) this.#term = undefined;
    }
  }

  #watchPage(): void {
    const { signal } = this.#end;
    const rest = (): void => this.#term?.abort();
    const wake = (): void => void this.#stand();
    document.addEventListener('freeze', rest, { signal });
    document.addEventListener('resume', wake, { signal });
    addEventListener('pagehide', rest, { signal });
    addEventListener('pageshow', ({ persisted }) => persisted && wake(), { signal });
    document.addEventListener('visibilitychange', () => this.#look(QUIET_MS / 3), { signal });
  }

  /** Somebody looks at this tab: what it shows must not depend on one that does not run. */
  #look(quietMs = QUIET_MS): void {
    if (document.hidden || this.isLeader || Date.now() - this.#heardAtMs < quietMs) return;
    const askedAtMs = Date.now();
    this.#candidate.ask();
    setTimeout(() => {
      if (this.isLeader || this.#heardAtMs >= askedAtMs || this.#end.signal.aborted) return;
      this.heard();
      void this.#request({ steal: true });
    }, ANSWER_WITHIN_MS);
  }
}
