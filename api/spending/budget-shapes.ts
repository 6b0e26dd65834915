import type { BudgetNow, BudgetSettings } from '../../adapters/postgres/spending/budgets.js';
import { spendingLimits } from '../../domain/spending/limits.js';
import { leftOf } from '../../domain/spending/pots.js';
import type { ApiContext } from '../context.js';
import { joi, fields, needed, orElse, nullable, wholeFrom } from '../http/fields.js';
import { fieldRefusal, readBody } from '../http/validation.js';

export const budgetSchema = fields({
  monthlyCents: needed(nullable(wholeFrom(1, spendingLimits.maxBudgetCents))),
  hard: orElse(joi.boolean(), false),
});

/**
 * Reads what is to be set.
 * @throws Refusal validation_failed
 */
export function readBudgetSettings(ctx: ApiContext): BudgetSettings {
  const settings = readBody(ctx, budgetSchema);
  if (settings.hard && settings.monthlyCents === null) {
    throw fieldRefusal('hard', 'hard can’t be true without monthlyCents: you could rent nothing');
  }
  return settings;
}

/** Tells whether a hard budget would hold less than before. */
export function isLoosened(before: BudgetSettings, after: BudgetSettings): boolean {
  if (!before.hard) return false;
  const isHigher = (after.monthlyCents ?? Number.POSITIVE_INFINITY) > (before.monthlyCents ?? 0);
  return !after.hard || isHigher;
}

/** A budget on read: as it is set, and how the present month stands. */
export function presentBudget({ settings, use }: BudgetNow) {
  const { monthlyCents, hard } = settings;
  const { month, endsAt, spentCents, reservedCents } = use;
  return {
    monthlyCents,
    hard,
    month,
    monthEndsAt: endsAt.toISOString(),
    spentCents,
    reservedCents,
    leftCents: monthlyCents === null ? null : leftOf({ limitCents: monthlyCents, spentCents, reservedCents }),
    alertPercents: [...spendingLimits.alertPercents],
  };
}
