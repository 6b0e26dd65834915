/** The limits of caps and budgets (decision 109, "Caps and budgets"), and of what is told of spending by day. */
export const spendingLimits = {
  /** The hours for which a rental without a limit of its own reserves its price. */
  usualHours: 4,
  /** How many rentals a refusal names: more than may live at once. */
  namedHolders: 50,
  /** The largest budget of a month, in cents. */
  maxBudgetCents: 1_000_000_000,
  /** The shares of a month's budget at which its user is told, in percent. */
  alertPercents: [50, 80, 100],
  /** How many days are told at once. */
  toldDays: 31,
  /** How many rentals of a day are told one by one. */
  rentalsOfDay: 20,
} as const;
