const HOUR = 3_600_000n;

/** What a rental was opened with. Milliseconds count from the beginning of its billing. */
interface Begun {
  readonly priceCents: number;
  readonly maxSpendCents: number | null;
  readonly autoStopMs: number | null;
}

/**
 * Follows a rental with money enough, from the story alone: its price is that of the time until its end, and its end is
 * the first instant at which a stop or a limit that was in force then was reached. It knows nothing of ticks, and shares
 * no code with the product.
 */
export class LimitsOracle {
  #nowMs = 0;
  #stopMs = Infinity;
  #maxSpendCents: number | null;
  /** Since when the spend limit is in force. */
  #spendFromMs = 0;
  #autoStopMs: number | null;

  constructor(private readonly begun: Begun) {
    this.#maxSpendCents = begun.maxSpendCents;
    this.#autoStopMs = begun.autoStopMs;
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }

  stop(): void {
    this.#stopMs = Math.min(this.#stopMs, this.#nowMs);
  }

  /** @returns whether a change is possible; then its limits hold from now on */
  change(asked: {
    readonly maxSpendCents: number | null | undefined;
    readonly autoStopMs: number | null | undefined;
  }): boolean {
    if (this.#endMs() <= this.#nowMs) return false;
    if (asked.maxSpendCents !== undefined) {
      const used = Number((BigInt(this.begun.priceCents) * BigInt(this.#nowMs)) / HOUR);
      this.#maxSpendCents = asked.maxSpendCents === null ? null : Math.max(asked.maxSpendCents, used);
      this.#spendFromMs = this.#nowMs;
    }
    if (asked.autoStopMs !== undefined) {
      this.#autoStopMs = asked.autoStopMs === null ? null : Math.max(asked.autoStopMs, this.#nowMs);
    }
    return true;
  }

  /** The end of its billing, and its price: rounded half up, and at most its limit. */
  bill(): { ms: number; cents: number } {
    const ms = this.#endMs();
    const halves = (BigInt(this.begun.priceCents) * BigInt(ms) * 2n) / HOUR;
    return { ms, cents: Math.min(this.#maxSpendCents ?? Infinity, Number((halves + 1n) / 2n)) };
  }

  #endMs(): number {
    return Math.min(this.#stopMs, this.#autoStopMs ?? Infinity, this.#spentMs());
  }

  /** The first millisecond at which the spend limit has been used up, and is in force. */
  #spentMs(): number {
    if (this.#maxSpendCents === null) return Infinity;
    const rate = BigInt(this.begun.priceCents);
    const usedUp = Number((BigInt(this.#maxSpendCents) * HOUR + rate - 1n) / rate);
    return Math.max(usedUp, this.#spendFromMs);
  }
}
