import { errorCodeOf, readOnly, sqlStateOf } from './sql-state.js';

/**
 * States in which the server itself says so: connection exceptions (class 08), too many connections, a full disk, going
 * down or coming up; and a standby, which reads only: after a failover an address may still lead to one.
 */
const AWAY_STATES = /^(08...|53100|53300|57P0[1-5])$/;

/**
 * States of a statement that would do at another moment (decision 124, "Failures that pass"): it gave way to another
 * transaction (class 40, lock_timeout), took too long (57014, 25P03, 25P04), or the server has no room (class 53).
 */
const TRANSIENT_STATES = /^(40...|53...|55P03|57014|25P0[34])$/;

/**
 * The name of knex's error when no connection of the pool was free in time. By name, so that a caller need not load
 * knex.
 */
const POOL_TIMEOUT = 'KnexTimeoutError';

/** Node's codes for an address where nobody answers, or a network that broke. */
const NETWORK_CODES = new Set([
  // The connection was lost before the answer came (watched-client.ts).
  'DATABASE_LOST',
  // The server, or a pooler before it, can't be worked with (fitness.ts): no statement was sent.
  'DATABASE_UNFIT',
  // Of several hosts, this one is a standby (address.ts).
  'DATABASE_STANDBY',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** The driver's own errors for a broken connection carry no code: only this text tells them. */
const DRIVER_TEXTS = /^(Connection terminated|Client has encountered a connection error|timeout expired)/;

/** Tells whether a query failed because the database can't be reached, and not because of the query itself. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === POOL_TIMEOUT) return true;
  const state = sqlStateOf(error);
  if (state !== undefined) return AWAY_STATES.test(state) || state === readOnly;
  const code = errorCodeOf(error);
  if (code !== undefined) return NETWORK_CODES.has(code);
  return (
    isDriverText(error.message) || (error instanceof AggregateError && error.errors.some(isDatabaseAway))
  );
}

/** Tells whether the same query may do in a moment, by what its failure says: whoever asks may be told to try again. */
export function isTransient(error: unknown): boolean {
  return isDatabaseAway(error) || TRANSIENT_STATES.test(sqlStateOf(error) ?? '');
}

/** Data that does not fit (class 22), breaks a constraint (23), or goes beyond what the server can hold (54). */
const UNACCEPTABLE_STATES = /^(22|23|54)...$/;

/** Tells whether a query failed because of the data that it was given: it would fail again. */
export function isUnacceptable(error: unknown): boolean {
  return UNACCEPTABLE_STATES.test(sqlStateOf(error) ?? '');
}

/**
 * Tells whether a query may have been committed although no answer came: its connection was lost at the commit, or in a
 * statement outside a transaction (decision 72, "Deadlines of waits"). A caller who repeats it does so by its key; a
 * caller who answers a request says so.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof Error && 'outcome' in error && error.outcome === 'unknown';
}

function isDriverText(message: string): boolean {
  // knex puts the statement in front of the driver's message.
  return DRIVER_TEXTS.test(message.split(' - ').at(-1) ?? message);
}
