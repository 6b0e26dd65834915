import type { UserId } from '../../../domain/ids.js';

/** What the rentals of an account may cost in a month. */
export interface BudgetRow {
  user_id: UserId;
  /** null: no budget. */
  monthly_cents: number | null;
  /** Whether nothing is opened that does not fit. */
  hard: boolean;
  changed_at: Date;
  /** Up to when the worker knows what was spent. */
  looked_at: Date | null;
}

/** That a user was told how much of a month's budget was spent. */
export interface BudgetAlertRow {
  user_id: UserId;
  /** The month in UTC, such as 2026-11. */
  month: string;
  percent: number;
  monthly_cents: number;
  spent_cents: number;
  told_at: Date;
}
