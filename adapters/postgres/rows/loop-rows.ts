/** An item of a loop whose last try failed (decision 69, "Items that fail"). */
export interface StuckItemRow {
  duty: string;
  item: string;
  attempts: number;
  last_error: string;
  first_failed_at: Date;
  last_failed_at: Date;
  next_attempt_at: Date;
  set_aside_at: Date | null;
}

/** The last time that a workflow was told to look, and whether it has looked since. */
export interface LookSignalRow {
  workflow_id: string;
  workflow_type: string;
  wanted_at: Date;
  told_at: Date | null;
  counted_on: Date;
  signals: number;
}
