import { DAY, HOUR, MINUTE, SECOND } from '../durations.js';

/** How notices are gathered, and how long a link holds (decision 103, "Notices by mail"). Durations are milliseconds. */
export const noticeLimits = {
  /** What happens within this time of the one before it is told in the same mail. */
  quietMs: 5 * SECOND,
  /** The first of them waits no longer than this for the others. */
  longestMs: MINUTE,
  /** What a key sets up is told once in this time, all that it did since in one mail. */
  setupEveryMs: HOUR,
  /** Statements of a month are mailed without a root of the ledger's proof when none was signed for this long after it. */
  statementWaitMs: 3 * DAY,
  /** This many wallets are looked at each minute for a statement: a mail that somebody waits for stands behind these. */
  statementsAtOnce: 300,
  /** A mail names this many machines or keys at most, and counts the others. */
  namedAtMost: 50,
  /** A link that switches mails off holds as long as the mail is kept (domain/operations/retention.ts). */
  linkMs: 180 * DAY,
} as const;
