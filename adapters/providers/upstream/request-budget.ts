import type { QuotaWindow } from './quotas.js';

/** The requests that an upstream may be sent, over all our processes. */
export interface RequestBudget {
  /**
   * Takes one request out of the budget.
   * @param use reading leaves a reserve for what must not wait: buying and ending pods; renewing takes half of it at most;
   *   both leave one for reading
   * @returns 0 when it may be sent, else how long to wait, in milliseconds
   */
  take(use: RequestUse): Promise<number>;
  /**
   * Asks, before a number of reads that can wait, whether the quotas that the upstream told leave room for them now.
   * @returns 0 when they may be sent, and counts them; else for how long they are put off, in milliseconds
   */
  pace(reads: number): Promise<number>;
  /** Keeps the quotas of the upstream's last answer; they replace the earlier ones. */
  learn(windows: readonly QuotaWindow[]): Promise<void>;
  /**
   * Takes the next turn of a pace: turns go to those who ask, in the order in which they ask, so that nobody's many
   * requests keep another's from ever being sent.
   * @param mostWaitMs how long the caller can wait for its turn; one that comes later is not taken
   */
  takeTurn(pace: Pace, mostWaitMs: number): Promise<Turn>;
}

/** A turn in a pace. */
export interface Turn {
  readonly isTaken: boolean;
  /** How long until it comes, or would come, in milliseconds. */
  readonly waitMs: number;
}

/** An upstream's smallest time between two requests of a kind, over all our processes. */
export interface Pace {
  readonly name: string;
  readonly everyMs: number;
  /** A request that is not in turn fails at once: nobody waits so long for it. */
  readonly failsOutOfTurn?: boolean;
}

/** Renewing is of the dates by which the upstream ends pods. */
export type RequestUse = 'reading' | 'renewing' | 'acting';
