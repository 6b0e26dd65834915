import type { QuotaWindow } from './quotas.js';

/** The requests that an upstream may be sent, over all our processes. */
export interface RequestBudget {
  /**
   * Takes one request out of the budget.
   * @param use reading leaves a reserve for what must not wait: buying and ending pods; renewing takes half of it at most
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
   * Takes the next turn of a pace.
   * @returns 0 when it is taken, else how long until the next one is free, in milliseconds
   */
  takeTurn(pace: Pace): Promise<number>;
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
