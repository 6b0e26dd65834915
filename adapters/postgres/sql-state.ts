/**
 * The code that an error carries: of the server an SQLSTATE of five characters, of the network one of Node's names.
 * undefined for whatever carries none.
 */
export function errorCodeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * The SQLSTATE of an error that the server itself answered, undefined for any other. Each of its codes has a digit
 * (PostgreSQL, appendix A), which tells them from names of Node's of the same length (EPIPE).
 */
export function sqlStateOf(error: unknown): string | undefined {
  const code = errorCodeOf(error);
  return code !== undefined && /^(?=.*[0-9])[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** SQLSTATE lock_not_available: `lock_timeout` ended a wait for a lock. */
export const lockNotAvailable = '55P03';
