/**
 * Returns the code of an error: an SQLSTATE of five characters from the server, or one of Node's names from the
 * network. undefined for an error that has none.
 */
export function errorCodeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * Returns the SQLSTATE of an error that the server itself answered, undefined for any other. Each SQLSTATE has a digit
 * (PostgreSQL, appendix A), unlike Node's names of the same length (EPIPE).
 */
export function sqlStateOf(error: unknown): string | undefined {
  const code = errorCodeOf(error);
  return code !== undefined && /^(?=.*[0-9])[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** SQLSTATE lock_not_available: `lock_timeout` ended a wait for a lock. */
export const lockNotAvailable = '55P03';

/** SQLSTATE read_only_sql_transaction: something was to be written, and the server is a standby. */
export const readOnly = '25006';
