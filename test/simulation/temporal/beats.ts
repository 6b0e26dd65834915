import { copyOf } from './copy.js';

/** Of the time after which a silent try counts as lost, a worker waits for so much between two beats that it sends. */
const SENT_EACH = 0.8;
/** It waits for so long at most, and where a try may be silent, in milliseconds. */
const SENT_MAX_MS = 60_000;
const SENT_USUALLY_MS = 30_000;

/**
 * What the tries of an activity tell by their beats, and what of it the next try gets: the worker sends one at once and
 * then the newest after a while, and the last one before a failure. What a try told since then dies with its worker.
 */
export class Beats {
  #kept: unknown;
  #newest: unknown;
  #sentMs = -Infinity;
  readonly #eachMs: number;

  /** @param timeoutMs after which a silent try counts as lost; absent: never */
  constructor(timeoutMs: number | undefined) {
    this.#eachMs = timeoutMs === undefined ? SENT_USUALLY_MS : Math.min(SENT_EACH * timeoutMs, SENT_MAX_MS);
  }

  /** Begins a try. @returns the details of the one before, as far as the server has them */
  begin(): unknown {
    this.#sentMs = -Infinity;
    this.#newest = this.#kept;
    return copyOf(this.#kept);
  }

  tell(details: unknown, nowMs: number): void {
    this.#newest = copyOf(details);
    if (nowMs - this.#sentMs >= this.#eachMs) this.send(nowMs);
  }

  /** Sends what is left to send. */
  send(nowMs: number): void {
    this.#kept = this.#newest;
    this.#sentMs = nowMs;
  }
}
