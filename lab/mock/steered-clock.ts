import type { Clock } from './world.js';

interface Planned {
  readonly atMs: number;
  readonly happen: () => void;
}

/** A clock that stands still until it is advanced, or let go. */
export class SteeredClock implements Clock {
  #nowMs: number;
  #planned: Planned[] = [];
  /** Undefined while it stands still. */
  #wentOnAtMs: number | undefined;

  constructor(startsAt: string | number) {
    this.#nowMs = new Date(startsAt).getTime();
  }

  now(): Date {
    const ranMs = this.#wentOnAtMs === undefined ? 0 : performance.now() - this.#wentOnAtMs;
    return new Date(Math.floor(this.#nowMs + ranMs));
  }

  after(ms: number, happen: () => void): () => void {
    if (this.#wentOnAtMs !== undefined) return startTimer(ms, happen);
    const planned: Planned = { atMs: this.#nowMs + ms, happen };
    this.#planned.push(planned);
    return () => {
      this.#planned = this.#planned.filter((each) => each !== planned);
    };
  }

  /** Goes on, and lets each event happen at its own instant. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const next = this.#planned.toSorted((a, b) => a.atMs - b.atMs)[0];
      if (!next || next.atMs > untilMs) break;
      this.#planned = this.#planned.filter((each) => each !== next);
      this.#nowMs = next.atMs;
      next.happen();
    }
    this.#nowMs = untilMs;
  }

  /** Lets it run by itself from now on. @returns a function that stops what is still planned */
  letGo(): () => void {
    this.#wentOnAtMs = performance.now();
    const calledOff = this.#planned.map(({ atMs, happen }) => startTimer(atMs - this.#nowMs, happen));
    this.#planned = [];
    return () => {
      for (const callOff of calledOff) callOff();
    };
  }
}

function startTimer(ms: number, happen: () => void): () => void {
  const timer = setTimeout(happen, ms);
  return () => clearTimeout(timer);
}
