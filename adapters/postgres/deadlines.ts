/**
 * The limit of each wait for the database, in milliseconds (decision 72, "Deadlines of waits"). The server's limits
 * come first, so that the server ends a slow statement itself and says so. The client's limit comes later, and ends the
 * connection.
 */
export interface DatabaseDeadlines {
  /** From the first packet of a new connection until it can be used. */
  readonly connectMs: number;
  /** How long a caller waits for a connection of the pool. */
  readonly acquireMs: number;
  /** `lock_timeout`: for each lock of another transaction. */
  readonly lockMs: number;
  /** `statement_timeout`: for each statement, its waits for locks included. */
  readonly statementMs: number;
  /** `transaction_timeout` (PostgreSQL 17): for a whole transaction. */
  readonly transactionMs: number;
  /** `idle_in_transaction_session_timeout`: between two statements of a transaction, whose locks others wait for. */
  readonly idleInTransactionMs: number;
  /**
   * The client's own limit for each answer: beyond it the connection is lost, and the outcome of the statement is
   * unknown.
   */
  readonly answerMs: number;
}

/** By pool. A transaction that waits for an upstream or a mail server may stand idle for as long as those may take. */
export const databaseDeadlines = {
  /** The activities, reports over many rows among them. */
  worker: {
    connectMs: 5_000,
    acquireMs: 5_000,
    lockMs: 5_000,
    statementMs: 30_000,
    transactionMs: 60_000,
    idleInTransactionMs: 20_000,
    answerMs: 32_000,
  },
  /** The tick alone: it must go on over a fresh connection within seconds, and waits for no lock. */
  meter: {
    connectMs: 2_000,
    acquireMs: 3_000,
    lockMs: 200,
    statementMs: 5_000,
    transactionMs: 10_000,
    idleInTransactionMs: 5_000,
    answerMs: 6_000,
  },
  /** Opening a rental asks upstreams under the wallet's lock (decision 20, "Wallet lock while buying"). */
  open: {
    connectMs: 3_000,
    acquireMs: 5_000,
    lockMs: 5_000,
    statementMs: 10_000,
    transactionMs: 30_000,
    idleInTransactionMs: 20_000,
    answerMs: 12_000,
  },
  /** Each request has a caller who waits for its answer. */
  api: {
    connectMs: 3_000,
    acquireMs: 2_000,
    lockMs: 3_000,
    statementMs: 10_000,
    transactionMs: 20_000,
    idleInTransactionMs: 10_000,
    answerMs: 12_000,
  },
  /** What is read for all streams of events at once, ten times a second. */
  events: {
    connectMs: 2_000,
    acquireMs: 2_000,
    lockMs: 1_000,
    statementMs: 3_000,
    transactionMs: 5_000,
    idleInTransactionMs: 3_000,
    answerMs: 4_000,
  },
} as const satisfies Record<string, DatabaseDeadlines>;
