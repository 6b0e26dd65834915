import type { Refusals } from './refusals.js';
import type { SimProcess } from './scope.js';

/** The end of a connection: before the server takes a statement, or after it has done it. */
export interface Break {
  readonly when: 'before' | 'after';
  /** Whether nobody is told of it. */
  readonly isSilent: boolean;
}

/** What chance may do to a statement. */
export interface StatementFaults extends Refusals {
  /**
   * @param duty the activity or request to which the statement belongs
   * @returns the milliseconds that a statement waits before the server takes it
   */
  slowMs(duty: string | undefined): number;
  breaks(): Break | undefined;
  /**
   * Is told of each statement that a process has begun for a duty, before and after it, and may let it stand still there.
   * @returns where it crashes, if it does
   */
  strikesAt(process: SimProcess, duty: string, sql: string): 'before' | 'after' | undefined;
  crash(process: SimProcess): Promise<void>;
}
