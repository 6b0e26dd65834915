/**
 * The calendar of an unpaid invoice, in days from its opening (spec: Limits; decision 35, "Invoices and reminders").
 */
export const dunning = {
  /** Users are reminded of a debt this many days after it was opened. */
  reminderDays: [3, 7, 14, 28],
  /** An invoice is due this many days after it was opened. From then on a debt keeps its user from renting. */
  dueDays: 7,
  /** From then on it is uncollectible. */
  writeOffDays: 30,
} as const;

/**
 * Finds the newest reminder that is due at an age: a missed reminder is not sent after the next one.
 * @returns its number, counted from 1; null before the first
 */
export function dueReminder(ageMs: number, dayMs: number): number | null {
  const due = dunning.reminderDays.filter((days) => ageMs >= days * dayMs).length;
  return due === 0 ? null : due;
}

/**
 * The time until an unpaid invoice needs something, in milliseconds: a day once all its steps are due, since who is to take
 * them may be unable to, such as an installation without a processor.
 * @param isDebt reminders are sent for debts only
 */
export function msUntilNextStep(ageMs: number, dayMs: number, isDebt: boolean): number {
  const days = [...(isDebt ? dunning.reminderDays : []), dunning.writeOffDays];
  const next = days.find((day) => day * dayMs > ageMs);
  return next === undefined ? dayMs : next * dayMs - ageMs;
}
