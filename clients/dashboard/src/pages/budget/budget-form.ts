import type { Budget, PutBudget } from '@gpu-rental/client';
import { money, parseMoney, typedMoney } from '../../format/money.js';
import { budgetTexts as t } from '../../texts/budget.js';

/** What the service takes (PutBudget of its description), which no answer of it tells. A test compares them. */
export const budgetLimits = { minCents: 1, maxCents: 1_000_000_000 } as const;

/** What stands in the fields. */
export interface BudgetFields {
  readonly amount: string;
  readonly isHard: boolean;
}

/** What is stored, as it is typed. */
export function fieldsOf({ monthlyCents, hard }: Budget): BudgetFields {
  return { amount: monthlyCents === null ? '' : typedMoney(monthlyCents), isHard: hard };
}

/** Reads the fields: what is to be stored, or what is wrong. Without an amount there is no budget, and so no hard one. */
export function readFields({ amount, isHard }: BudgetFields): PutBudget | { readonly error: string } {
  if (amount.trim() === '') return { monthlyCents: null, hard: false };
  const cents = parseMoney(amount);
  if (cents === undefined) return { error: t.notMoney };
  const { minCents, maxCents } = budgetLimits;
  if (cents < minCents || cents > maxCents) return { error: t.outside(money(minCents), money(maxCents)) };
  return { monthlyCents: cents, hard: isHard };
}

/** Shares of the budget in whole percent, cut off: 79.9 % have not reached 80. */
export interface BudgetShares {
  readonly spent: number;
  /** What may still be spent, as far as it fits behind what is. */
  readonly reserved: number;
}

export function sharesOf(spentCents: number, reservedCents: number, monthlyCents: number): BudgetShares {
  const percent = (cents: number): number => Number((BigInt(cents) * 100n) / BigInt(monthlyCents));
  const spent = percent(spentCents);
  return { spent, reserved: Math.max(0, Math.min(100 - spent, percent(reservedCents))) };
}
