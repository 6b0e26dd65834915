/**
 * The parts of the log that may have a level of their own (LOG_LEVELS): `requests` and `streams` of the API, `activities`
 * and `temporal` of a worker, and at level debug each call of both to an upstream, to the payment processor and to
 * PostgreSQL.
 */
export const logParts = [
  ...(['requests', 'activities', 'temporal', 'streams'] as const),
  ...(['upstream', 'processor', 'sql'] as const),
] as const;

export type LogPart = (typeof logParts)[number];

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export type LogLevel = (typeof logLevels)[number];

/** The levels of the parts that have one of their own. */
export type LevelsOfParts = Readonly<Partial<Record<LogPart, LogLevel>>>;
