/** How many requests an upstream may be sent, over all our processes. */
export interface RequestBudget {
  /**
   * Takes one request out of the budget.
   * @param use reading leaves a reserve for what must not wait: buying and ending pods
   * @returns 0 when it may be sent, else how long to wait, in milliseconds
   */
  take(use: RequestUse): Promise<number>;
}

export type RequestUse = 'reading' | 'acting';
