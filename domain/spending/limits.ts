/** The limits of caps and budgets (decision 109, "Caps and budgets"). */
export const spendingLimits = {
  /** The hours for which a rental without a limit of its own reserves its price. */
  usualHours: 4,
  /** How many rentals a refusal names: more than may live at once. */
  namedHolders: 50,
  /** The largest budget of a month, in cents. */
  maxBudgetCents: 1_000_000_000,
  /** The shares of a month's budget at which its user is told, in percent. */
  alertPercents: [50, 80, 100],
} as const;
