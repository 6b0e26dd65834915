/** An activity that polls for ever. While nothing happens elsewhere its rounds find nothing, and are skipped. */
export interface Loop {
  readonly name: string;
  /** Whether a round must come right before whatever happens next, so that what it reads is fresh. */
  readonly isAhead: boolean;
  /** The least time between the beginnings of two rests, in milliseconds, however much happens; 0: its own period. */
  readonly patienceMs: number;
  /** The instant at which the loop itself knows of something to do, in milliseconds since 1970. */
  dueMs: number | undefined;
  /** How many rounds in a row nothing had happened since the round before. */
  calm: number;
  /** Whether it waits for its next round now. */
  isResting: boolean;
  /** The count of happenings that its last round has seen. */
  seen: number;
}
