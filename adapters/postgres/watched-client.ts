import knexFactory, { type Knex } from 'knex';
import type { Duplex } from 'node:stream';
import { sqlStateOf } from './sql-state.js';

/** The server took or may have taken a statement, and the connection was lost before its answer came. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly code = 'DATABASE_LOST';
  /**
   * @param outcome unknown: it may have been committed; undone: it was within a transaction that nobody can commit
   * any more, or was never sent
   */
  constructor(
    message: string,
    readonly outcome: 'unknown' | 'undone',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What knex keeps in its pool: a client of the driver. */
interface Connection {
  /** Set by knex once the connection has failed or ended: the pool gives it to nobody any more. */
  readonly __knex__disposed?: unknown;
  readonly connection: { readonly stream: Duplex };
  /** I: outside a transaction, T: within one, E: within one that has failed; null before the first answer. */
  getTransactionStatus(): 'I' | 'T' | 'E' | null;
}

type Statement = string | { readonly sql?: string };

/** How long a connection that is closed may take to say so. */
const GOODBYE_MS = 1_000;

// The dialect is no export of knex: it is the class of a client that never connects.
const { client } = knexFactory({ client: 'pg' }) as { client: Knex.Client };
const PostgresClient = client.constructor as typeof Knex.Client;

/**
 * A client of knex whose every answer has a limit. One that does not come in time ends the connection: its socket is
 * destroyed, the pool never gives it to anybody again, and the server undoes the transaction.
 * The driver's own `query_timeout` must not be used for it: it answers the caller and keeps the connection, drops a
 * ROLLBACK that waits behind the silent statement, and the next caller writes into the transaction that was left open.
 * @param answerMs for each statement, from its being sent
 */
export function watchedClient(answerMs: number): typeof Knex.Client {
  const watches = new WeakMap<Connection, AnswerWatch>();
  /** When the youngest statement was asked that never got an answer. What did not answer since is suspect. */
  const silence = { askedMs: -Infinity };

  const watchOf = (connection: Connection): AnswerWatch => {
    const known = watches.get(connection);
    if (known !== undefined) return known;
    const watch = new AnswerWatch(answerMs, (askedMs) => {
      silence.askedMs = Math.max(silence.askedMs, askedMs);
      connection.connection.stream.destroy(new Error(`no answer within ${answerMs} ms`));
    });
    watches.set(connection, watch);
    return watch;
  };

  return class WatchedClient extends PostgresClient {
    /** Every statement of knex goes through it, those that begin and end transactions included. */
    override async query(connection: Connection, statement: Statement): Promise<unknown> {
      const sql = typeof statement === 'string' ? statement : (statement.sql ?? '');
      if (isLost(connection)) throw lost(connection, sql, 'undone');
      const outcome = outcomeIfLost(connection, sql);
      const watch = watchOf(connection);
      watch.asked();
      try {
        return (await super.query(connection, statement)) as unknown;
      } catch (error) {
        // What the server itself says is an answer. The loss of the connection is none.
        throw isLost(connection) && sqlStateOf(error) === undefined ? lost(connection, sql, outcome) : error;
      } finally {
        watch.answered();
      }
    }

    override async acquireRawConnection(): Promise<unknown> {
      const connection = (await super.acquireRawConnection()) as Connection;
      watchOf(connection);
      return connection;
    }

    /** Asked by the pool before it gives a connection to somebody; false closes it. */
    override validateConnection(connection: Connection): Promise<boolean> {
      const watch = watchOf(connection);
      const isFresh =
        !watch.isWaiting &&
        connection.getTransactionStatus() === 'I' &&
        watch.lastAnswerMs >= silence.askedMs;
      return Promise.resolve(isFresh);
    }

    override async destroyRawConnection(connection: Connection): Promise<void> {
      const timer = setTimeout(() => connection.connection.stream.destroy(), GOODBYE_MS);
      try {
        await super.destroyRawConnection(connection);
      } finally {
        clearTimeout(timer);
      }
    }
  };
}

/** The limit of one connection's answers. They come in the order of what was asked. */
class AnswerWatch {
  /** By performance.now(). */
  lastAnswerMs = performance.now();
  #unanswered = 0;
  #askedMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limitMs: number,
    private readonly onSilence: (askedMs: number) => void,
  ) {}

  get isWaiting(): boolean {
    return this.#unanswered > 0;
  }

  asked(): void {
    this.#unanswered += 1;
    if (this.#unanswered === 1) this.#start();
  }

  answered(): void {
    this.#unanswered -= 1;
    this.lastAnswerMs = performance.now();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unanswered > 0) this.#start();
  }

  #start(): void {
    this.#askedMs = performance.now();
    const timer = setTimeout(() => {
      // A process that stood still sees its timers before the answers that came meanwhile: those are read first.
      setImmediate(() => {
        if (this.#timer === timer) this.onSilence(this.#askedMs);
      });
    }, this.limitMs);
    this.#timer = timer;
  }
}

function isLost(connection: Connection): boolean {
  return connection.__knex__disposed !== undefined;
}

/** What a statement that gets no answer has done: outside a transaction, and at its end, nobody knows. */
function outcomeIfLost(connection: Connection, sql: string): 'unknown' | 'undone' {
  if (/^\s*(begin|rollback)\b/i.test(sql)) return 'undone';
  const isWithin = connection.getTransactionStatus() !== 'I';
  return isWithin && !/^\s*commit\b/i.test(sql) ? 'undone' : 'unknown';
}

function lost(connection: Connection, sql: string, outcome: 'unknown' | 'undone'): ConnectionLost {
  const cause = connection.__knex__disposed;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ConnectionLost(`${sql} - the connection was lost: ${why}`, outcome, { cause });
}
