import type { Labels } from './labels.js';

/**
 * What a user asks to change of a rental (decision 105, "Changed rentals"), as `rental_changes` keeps it: only what was
 * sent. Values are absolute, and null takes a limit away. Amounts in cents.
 */
export interface AskedChange {
  readonly name?: string | null;
  readonly labels?: Labels;
  readonly maxSpendCents?: number | null;
  /** ISO instant. */
  readonly autoStopAt?: string | null;
  /** From the beginning of billing on, in milliseconds. */
  readonly autoStopAfterMs?: number | null;
}
