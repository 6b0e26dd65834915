import type { Clock } from '../../../lab/mock/world.js';

/** The mock's clock as the system's, but planned events wait for the test while it holds them. */
export class HeldClock implements Clock {
  #held: (() => void)[] | undefined;

  now(): Date {
    return new Date();
  }

  after(ms: number, happen: () => void): () => void {
    let isCalledOff = false;
    const goOn = (): void => {
      if (!isCalledOff) happen();
    };
    const timer = setTimeout(() => (this.#held ? this.#held.push(goOn) : goOn()), ms);
    return () => {
      isCalledOff = true;
      clearTimeout(timer);
    };
  }

  /** Holds what is due from now on: a machine stays on its way for as long as a page takes to show it. */
  hold(): void {
    this.#held ??= [];
  }

  /** Lets all that is held happen, in its order, and holds nothing any more. */
  release(): void {
    const due = this.#held ?? [];
    this.#held = undefined;
    for (const happen of due) happen();
  }
}
