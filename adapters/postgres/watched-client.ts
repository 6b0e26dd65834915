import knexFactory, { type Knex } from 'knex';
import { isCommit, namedCommit, type acknowledgedAt } from './acknowledged.js';
import { HostIsStandby, type HostSettings } from './address.js';
import type { Connection } from './knex-inside.js';
import { refuseOtherSettings, showSettings, wordsOfRefusal, type AskedSettings } from './fitness.js';
import { readOnly, sqlStateOf } from './sql-state.js';
import { called, type Call } from '../tracing/calls.js';

/** The server took or may have taken a statement, and the connection was lost before its answer came. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly code = 'DATABASE_LOST';
  /**
   * @param outcome unknown: it may have been committed; undone: it was within a transaction that nobody can commit any
   *   more, or was never sent
   */
  constructor(
    message: string,
    readonly outcome: 'unknown' | 'undone',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

type Statement = string | { readonly sql?: string };

/** How long a closing connection may take to confirm. */
const GOODBYE_MS = 1_000;

const { client } = knexFactory({ client: 'pg' }) as { client: Knex.Client };
/** The dialect, which knex does not export: the class of a client that never connects. */
export const PostgresClient = client.constructor as typeof Knex.Client;

/**
 * Makes a client of knex whose every answer has a limit. A late answer ends the connection: its socket is destroyed,
 * the pool never gives it out again, and the server undoes the transaction. Once a server says that it is a standby, no
 * connection from before then is given out again either: the next ones may lead to the primary. The driver's own `query_timeout` must not
 * be used for it: it answers the caller and keeps the connection, drops a ROLLBACK that waits behind the silent
 * statement, and the next caller writes into the transaction that was left open.
 * @param answerMs for each statement, from its being sent
 * @param asked what each new connection must have got before it is used
 * @param hosts each connection goes to the first of them that takes writes, from the one that did last
 * @param acknowledged takes each commit that was answered
 */
export function watchedClient(
  answerMs: number,
  asked: AskedSettings,
  hosts: readonly HostSettings[],
  acknowledged: ReturnType<typeof acknowledgedAt>,
): typeof Knex.Client {
  const watches = new WeakMap<Connection, AnswerWatch>();
  /** When the youngest unanswered statement was sent. A connection without an answer since then is suspect. */
  const silence = { askedMs: -Infinity };
  /** When a server last said that it is a standby. A connection from before then may lead to the same one. */
  const standby = { toldMs: -Infinity };
  const choice = new HostChoice(hosts);

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
    /** Every statement of knex goes through it, also those that begin and end transactions. */
    override async query(connection: Connection, statement: Statement): Promise<unknown> {
      const sql = typeof statement === 'string' ? statement : (statement.sql ?? '');
      if (isLost(connection)) throw lost(connection, sql, 'undone');
      const outcome = outcomeIfLost(connection, sql);
      const turn = watchOf(connection).ask();
      try {
        if (connection.pipeline !== true) await turn.before;
        if (isLost(connection)) throw lost(connection, sql, 'undone');
        // Its text alone: the parameters are people's data.
        const sent = namedIfCommit(connection, statement, sql);
        const ask = async () => (await super.query(connection, sent)) as unknown;
        return acknowledged.note(await called(callOf(sql), ask));
      } catch (error) {
        if (sqlStateOf(error) === readOnly) standby.toldMs = performance.now();
        throw isLost(connection) && !isAnswer(error) ? lost(connection, sql, outcome) : error;
      } finally {
        turn.answered();
      }
    }

    override acquireRawConnection(): Promise<unknown> {
      return choice.first(async (host) => {
        Object.assign(this, { connectionSettings: settingsFor(this, host) });
        const connection = (await super.acquireRawConnection().catch((error: unknown) => {
          throw wordsOfRefusal(error);
        })) as Connection;
        const turn = watchOf(connection).ask();
        await refuseUnfit(connection, asked, hosts.length > 1).finally(() => turn.answered());
        return connection;
      });
    }

    /** The pool calls it before it gives a connection out; false closes the connection. */
    override validateConnection(connection: Connection): Promise<boolean> {
      const watch = watchOf(connection);
      const isFresh =
        !watch.isWaiting &&
        connection.getTransactionStatus() === 'I' &&
        watch.lastAnswerMs >= silence.askedMs &&
        watch.openedMs > standby.toldMs;
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

/** A commit of what stands tells by which name it is found again. */
function namedIfCommit(connection: Connection, statement: Statement, sql: string): Statement {
  return isCommit(sql) && connection.getTransactionStatus() === 'T' ? namedCommit : statement;
}

/** The host that took the last connection. */
class HostChoice {
  #at = 0;

  constructor(private readonly hosts: readonly HostSettings[]) {}

  /** Tries each host once, from the one that did last. @throws the last one's fault */
  async first<Connected>(
    connect: (host: HostSettings | undefined) => Promise<Connected>,
  ): Promise<Connected> {
    for (let left = this.hosts.length; ; left -= 1) {
      const at = this.#at;
      try {
        return await connect(this.hosts[at]);
      } catch (error) {
        // Whoever asks next begins at the next one, if no other connection has moved on already.
        if (this.#at === at) this.#at = (at + 1) % this.hosts.length;
        if (left <= 1) throw error;
      }
    }
  }
}

/** What knex gives the driver; it reads them as the connection begins. */
function settingsFor(client: object, host: HostSettings | undefined): object {
  const { connectionSettings } = client as { readonly connectionSettings: object };
  return { ...connectionSettings, ssl: undefined, ...host };
}

/** Ends a new connection that has not got what it asked for. */
async function refuseUnfit(connection: Connection, asked: AskedSettings, hasOthers: boolean): Promise<void> {
  try {
    const { rows } = await connection.query(showSettings(asked));
    refuseOtherSettings(asked, rows[0] ?? {});
    if (hasOthers && rows[0]?.['standby'] === true) throw new HostIsStandby();
  } catch (error) {
    connection.connection.stream.destroy();
    throw error;
  }
}

/** Watches the limit of one connection's answers. They come in the order of the statements. */
class AnswerWatch {
  /** By performance.now(), as all times here. */
  readonly openedMs = performance.now();
  lastAnswerMs = this.openedMs;
  #unanswered = 0;
  #askedMs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Resolves with the answer of the youngest statement. */
  #newest = Promise.resolve();

  constructor(
    private readonly limitMs: number,
    private readonly onSilence: (askedMs: number) => void,
  ) {}

  get isWaiting(): boolean {
    return this.#unanswered > 0;
  }

  /**
   * Begins the watch over a statement.
   * @returns `before`: resolves once those that were asked earlier have been answered. Outside of a pipeline the driver
   *   gets one statement at a time, since its next major takes no other meanwhile: those that are asked at once, such as
   *   a rollback behind a silent statement, wait for each other.
   */
  ask(): { readonly before: Promise<void>; readonly answered: () => void } {
    const before = this.#newest;
    let resolve: () => void;
    this.#newest = new Promise((done) => (resolve = done));
    this.#unanswered += 1;
    if (this.#unanswered === 1) this.#start();
    const answered = (): void => {
      resolve();
      this.#answered();
    };
    return { before, answered };
  }

  #answered(): void {
    this.#unanswered -= 1;
    this.lastAnswerMs = performance.now();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unanswered > 0) this.#start();
  }

  #start(): void {
    this.#askedMs = performance.now();
    const timer = setTimeout(() => {
      // After a standstill, a process sees its timers before the answers that came meanwhile: it reads those first.
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

/** An error of the server itself is an answer; the loss of the connection is none, unless it is told already. */
function isAnswer(error: unknown): boolean {
  return sqlStateOf(error) !== undefined || error instanceof ConnectionLost;
}

/** Returns the outcome of a statement without an answer: unknown outside a transaction, and at its end. */
function outcomeIfLost(connection: Connection, sql: string): 'unknown' | 'undone' {
  if (/^\s*(begin|rollback)\b/i.test(sql)) return 'undone';
  const isWithin = connection.getTransactionStatus() !== 'I';
  return isWithin && !isCommit(sql) ? 'undone' : 'unknown';
}

function lost(connection: Connection, sql: string, outcome: 'unknown' | 'undone'): ConnectionLost {
  const cause = connection.__knex__disposed;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ConnectionLost(`${sql} - the connection was lost: ${why}`, outcome, { cause });
}

/** Statements of tens of kilobytes tell no more by their ends. */
const SQL_MAX_CHARS = 2_000;

function callOf(sql: string): Call {
  const attributes = { 'db.system.name': 'postgresql', 'db.query.text': sql.slice(0, SQL_MAX_CHARS) };
  return { callee: 'sql', name: 'sql', attributes };
}
