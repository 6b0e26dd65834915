/**
 * The service's clock, as its answers tell it by their `Date`. This computer's may be off, and what is sent or compared
 * by it would be another instant than was meant.
 */
export class ServiceClock {
  readonly #own: () => number;
  #offMs = 0;

  /** @param own this computer's clock, in milliseconds */
  constructor(own: () => number) {
    this.#own = own;
  }

  /** The service's time in milliseconds; until there was an answer, this computer's. */
  now(): number {
    return this.#own() + this.#offMs;
  }

  /** Sends requests as before, and reads the clock off each answer. */
  readOff(send: typeof fetch): typeof fetch {
    return async (input, init) => {
      const sentMs = this.#own();
      const answer = await send(input, init);
      const gotMs = this.#own();
      const toldMs = Date.parse(answer.headers.get('date') ?? '');
      // Whole seconds are told: clocks that may agree do.
      const agree = toldMs <= gotMs && sentMs < toldMs + 1_000;
      if (!Number.isNaN(toldMs)) this.#offMs = agree ? 0 : toldMs - gotMs;
      return answer;
    };
  }
}
