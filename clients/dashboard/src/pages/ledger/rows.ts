import type { LedgerEntry } from '@gpu-rental/client';

/** The lines of a list of entries, of which only those that are looked at are read. */
export interface LedgerRows {
  /** How many lines the list has now. */
  readonly count: number;
  /** False: older entries than the last line follow. */
  readonly isWhole: boolean;
  /** The entry of a line; undefined while it is being read. */
  readonly at: (index: number) => LedgerEntry | undefined;
  /** How many entries came since the list stands still. */
  readonly newer: number;
  /** Shows those, once, also while the list stands still. */
  readonly showNewer: () => void;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
  /** The number of the entry below the last line, where the list is cut. */
  readonly olderThan: number | undefined;
}

/** The lines that are on the screen, or nearly. */
export interface Window {
  readonly first: number;
  readonly last: number;
}
