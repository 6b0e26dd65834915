import { isCommit } from '../../../adapters/postgres/acknowledged.js';
import pg from 'pg';
import { showingLimits, takeLimits } from './connection-limits.js';
import type { Kernel } from './kernel.js';
import { LockWaits } from './lock-waits.js';
import { realSleep } from './real.js';
import { orRefused, refuseConnection } from './refusals.js';
import { currentScope, inThisContext, type Scope, type SimProcess } from './scope.js';
import type { Callback, RefusedStatement, Session, Statement } from './session.js';
import { silence } from './silence.js';
import type { StatementFaults } from './statement-faults.js';
import { asError, labelOf, lockLimitOf, writes } from './statement-text.js';

type RealQuery = (config: unknown, values: unknown, callback: Callback) => unknown;

/** How long the end of a connection may take, in milliseconds of real time. */
const GOODBYE_MS = 20;
/** How long the server keeps a silent session that is in no transaction, in milliseconds of simulated time. */
const SILENT_MS = 60_000;
/** SQLSTATE of a wait for a lock that lock_timeout has ended. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Lets the statements of all processes run one at a time, in the order that the seed picks. A statement that waits for a
 * lock is seen by pg_blocking_pids, and lets the others go on; its limit counts simulated time.
 */
export class Statements {
  readonly counts = { statements: 0, waits: 0, timeouts: 0, cuts: 0, silences: 0 };
  /** Statements by the activity or request that they belong to: those begun, and those at which chance hit. */
  readonly points = { passed: new Set<string>(), hit: new Set<string>() };
  /** What the server answered with an error, as chance or as itself. */
  readonly refused: RefusedStatement[] = [];
  readonly #sessions = new Map<pg.Client, Session>();
  readonly #locks: LockWaits;
  #waiting: Statement[] = [];
  #no = 0;
  faults: StatementFaults | undefined;
  /** What faults draw, and what is not done all the same. */
  isNeverSlow = false;
  isNeverCut = false;

  /**
   * @param control a connection of the simulation's own, opened before `install`
   * @param setClock sets the database's clock
   */
  constructor(
    private readonly kernel: Kernel,
    private readonly control: pg.Client,
    private readonly setClock: (ms: number) => void,
  ) {
    this.#locks = new LockWaits(kernel, this.#sessions, (sql, values) => this.ask(sql, values));
  }

  /** Puts itself between the driver and everything that uses it. There is no way back. */
  install(): void {
    const proto = pg.Client.prototype as unknown as {
      query: unknown;
      connect: unknown;
      end: (this: pg.Client) => Promise<void>;
    };
    const realQuery = proto.query as RealQuery;
    const realConnect = proto.connect as (this: pg.Client) => Promise<unknown>;
    const realEnd = proto.end;
    const { control } = this;
    const take = this.#take.bind(this, realQuery);
    const connect = this.#connect.bind(this);
    const { kernel } = this;
    const drop = (client: pg.Client): void => void this.#sessions.delete(client);
    proto.query = function (this: pg.Client, config: unknown, values: unknown, callback: unknown): unknown {
      if (this === control) return realQuery.call(this, config, values, callback as Callback);
      return take(this, config, values, callback);
    };
    proto.connect = function (this: pg.Client): Promise<unknown> {
      return connect(this, () => realConnect.call(this));
    };
    proto.end = async function (this: pg.Client): Promise<void> {
      drop(this);
      // A connection that was cut may never confirm its end.
      await kernel.reallyDoing(Promise.race([realEnd.call(this), realSleep(GOODBYE_MS)]));
    };
  }

  /** Ends the sessions of a crashed process. Nothing else happens until the server has undone what they held. */
  async forget(process: SimProcess): Promise<void> {
    await this.kernel.reallyDoing(this.#forget(process));
  }

  async #forget(process: SimProcess): Promise<void> {
    const sessions = [...this.#sessions.values()].filter((session) => session.process === process);
    this.#waiting = this.#waiting.filter(({ session }) => !sessions.includes(session));
    for (const session of sessions) {
      this.#sessions.delete(session.client);
      session.queue = [];
    }
    // The server does not hear of the end of a client that is silent.
    await this.#endSessions(sessions.filter(({ isSilent }) => !isSilent));
    await this.#recheck();
  }

  /** Asks the database on the simulation's own connection, beside everything else. */
  async ask<Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.kernel.reallyDoing(this.control.query(sql, [...values]).then(({ rows }) => rows as Row[]));
  }

  async #endSessions(sessions: readonly Session[]): Promise<void> {
    const pids = sessions.map(({ pid }) => pid).filter((pid) => pid > 0);
    // A number may be another database's by now.
    const own = 'from pg_stat_activity where pid = any($1::int[]) and datname = current_database()';
    await this.ask(`select pg_terminate_backend(pid) ${own}`, [pids]);
    for (;;) {
      const left = await this.ask(`select 1 ${own}`, [pids]);
      if (left.length === 0) return;
      await realSleep(1);
    }
  }

  #connect(client: pg.Client, connect: () => Promise<unknown>): Promise<unknown> {
    this.#no += 1;
    const limits = takeLimits(client);
    const session: Session = {
      ...{
        client,
        process: currentScope().process,
        no: this.#no,
        pid: 0,
        ...{ limits, lockMs: limits['lock_timeout'] ?? 0 },
        idleMs: limits['idle_in_transaction_session_timeout'] ?? 0,
        localLockMs: undefined,
      },
      ...{ queue: [], isBusy: false, isInTransaction: false, hasWritten: false, isSilent: false },
    };
    this.#sessions.set(client, session);
    client.on('error', () => undefined);
    return new Promise((resolve, reject) => {
      this.kernel.after(0, 'connect', async () => {
        try {
          refuseConnection(this.faults, session);
          await this.kernel.reallyDoing(connect());
          session.pid = (client as unknown as { processID: number }).processID;
          resolve(client);
        } catch (error) {
          reject(asError(error));
        }
      });
    });
  }

  #take(real: RealQuery, client: pg.Client, config: unknown, values: unknown, callback: unknown): unknown {
    const session = this.#sessions.get(client);
    const done = (typeof values === 'function' ? values : callback) as Callback | undefined;
    const given = typeof values === 'function' ? undefined : values;
    const text = typeof config === 'string' ? config : ((config as { text?: string }).text ?? '');
    if (done === undefined) {
      return new Promise((resolve, reject) => {
        const settle: Callback = (error, result) => (error ? reject(error) : resolve(result));
        this.#take(real, client, config, given, settle);
      });
    }
    const deliver = inThisContext(done);
    if (session === undefined) {
      process.nextTick(deliver, new Error('the connection has ended'));
      return undefined;
    }
    const limit = lockLimitOf(text, (config as { values?: unknown[] }).values);
    const sent =
      limit === undefined
        ? ([showingLimits(config, session.limits), given] as const)
        : (['select 1', undefined] as const);
    session.queue.push({
      ...{ sql: text, session, scope: currentScope(), deliver, answer: undefined, lockMs: limit },
      answered: () => undefined,
      send: (answered) => void real.call(client, ...orRefused(this.faults, session, text, sent), answered),
    });
    this.#next(session);
    return undefined;
  }

  /** Lets the next statement of a session come on: a session does one at a time. */
  #next(session: Session): void {
    const [statement] = session.queue;
    if (session.isBusy || statement === undefined) return;
    session.isBusy = true;
    const drawnMs = this.faults?.slowMs(statement.scope.duty) ?? 0;
    const slowMs = this.isNeverSlow ? 0 : drawnMs;
    this.kernel.after(slowMs, `sql ${labelOf(statement.sql)}`, () => this.#run(statement), {
      scope: statement.scope,
    });
  }

  async #run(statement: Statement): Promise<void> {
    const { session } = statement;
    const { process } = session;
    this.counts.statements += 1;
    if (process !== undefined && (await this.#isHit(statement, 'before'))) return;
    this.setClock(this.kernel.nowMs);
    session.localLockMs = statement.lockMs ?? session.localLockMs;
    statement.send((error, result) => {
      statement.answer = { error, result };
      this.kernel.moved();
      statement.answered();
    });
    if (await this.#locks.isBlocked(statement)) {
      this.counts.waits += 1;
      this.#waiting.push(statement);
      this.kernel.trace.line(this.kernel.nowMs, 'waits for a lock');
      this.#limit(statement);
      return;
    }
    if (process !== undefined && (await this.#isHit(statement, 'after'))) return;
    // Whoever waits no longer is found out first: then the order of what comes next is certain.
    await this.#recheck();
    if (process !== undefined && process.frozenUntilMs > this.kernel.nowMs) {
      this.kernel.after(0, 'goes on', () => this.#deliver(statement), { scope: statement.scope });
    } else {
      this.#deliver(statement);
    }
  }

  /** Lets chance cut the connection or crash the process at this statement. */
  async #isHit(statement: Statement, when: 'before' | 'after'): Promise<boolean> {
    const { session } = statement;
    const { faults } = this;
    if (faults === undefined || session.process === undefined) return false;
    const { duty = session.process.kind } = statement.scope;
    const point = `${duty}: ${labelOf(statement.sql)}`;
    this.points.passed.add(point);
    if (faults.strikesAt(session.process, duty, statement.sql) === when) {
      this.points.hit.add(`${when} ${point}`);
      await faults.crash(session.process);
      return true;
    }
    const broken = faults.breaks();
    if (broken?.when !== when || this.isNeverCut) return false;
    this.points.hit.add(`${when} ${point}`);
    await (broken.isSilent ? this.#fallSilent(statement) : this.#cut(statement, when));
    return true;
  }

  async #cut(statement: Statement, when: 'before' | 'after'): Promise<void> {
    const { session } = statement;
    this.counts.cuts += 1;
    this.kernel.trace.line(this.kernel.nowMs, `cut ${when}`);
    const error = await this.#cutOff(session);
    statement.answer = { error };
    await this.#recheck();
    this.#deliver(statement);
    for (const later of session.queue.splice(0)) later.deliver(error);
  }

  /** Lets a connection fall silent: client and server wait for each other, until the limits of both are over. */
  async #fallSilent(statement: Statement): Promise<void> {
    const { session, scope } = statement;
    this.counts.silences += 1;
    this.kernel.trace.line(this.kernel.nowMs, 'a connection falls silent');
    // What the server has done is done, although nobody is told.
    if (statement.answer !== undefined) this.#follow(statement);
    session.isSilent = true;
    const close = silence(session, (error) => {
      this.kernel.after(0, 'gives up a silent connection', () => this.#giveUp(session, error), { scope });
    });
    const keptMs = session.isInTransaction && session.idleMs > 0 ? session.idleMs : SILENT_MS;
    const end = async (): Promise<void> => {
      await this.#endSessions([session]);
      close();
      await this.#recheck();
    };
    this.kernel.after(keptMs, 'the server ends a silent session', end, { scope: {} });
    await this.#recheck();
  }

  /** Lets the client of a silent session know what it has found out by itself. */
  #giveUp(session: Session, error: Error): void {
    this.#sessions.delete(session.client);
    session.client.emit('error', error);
    for (const statement of session.queue.splice(0)) statement.deliver(error);
  }

  /** Ends a session, and lets its client know. @returns what the client is told */
  async #cutOff(session: Session): Promise<Error> {
    await this.#endSessions([session]);
    const { connection } = session.client as unknown as {
      connection: { stream: { destroy(error: Error): void } };
    };
    const error = new Error('Connection terminated unexpectedly');
    connection.stream.destroy(error);
    await this.kernel.reallyDoing(realSleep(1));
    session.client.emit('error', error);
    this.#sessions.delete(session.client);
    return error;
  }

  /** Lets a process stand still. The server ends those of its transactions that stand idle for longer than they may. */
  freeze(process: SimProcess, ms: number): void {
    this.kernel.freeze(process, ms);
    for (const session of this.#sessions.values()) {
      const { idleMs } = session;
      if (session.process !== process || !session.isInTransaction || idleMs === 0 || idleMs > ms) continue;
      this.kernel.after(idleMs, 'idle_in_transaction_session_timeout', () => this.#endIdle(session), {
        scope: {},
      });
    }
  }

  async #endIdle(session: Session): Promise<void> {
    if (
      !this.#sessions.has(session.client) ||
      session.isSilent ||
      this.#waiting.some((one) => one.session === session)
    )
      return;
    const error = await this.#cutOff(session);
    await this.#recheck();
    for (const later of session.queue.splice(session.isBusy ? 1 : 0)) later.deliver(error);
  }

  #deliver(statement: Statement): void {
    const { session, answer } = statement;
    if (answer === undefined) throw new Error('a statement without an answer');
    this.#follow(statement);
    session.isBusy = false;
    session.queue.shift();
    const state = (answer.error as { code?: string } | null)?.code;
    if (state !== undefined)
      this.refused.push({ sql: labelOf(statement.sql), state, message: asError(answer.error).message });
    const rows = (answer.result as { rowCount?: number } | undefined)?.rowCount;
    this.kernel.trace.line(this.kernel.nowMs, `= ${state ?? rows ?? '-'}`);
    statement.deliver(answer.error, answer.result);
    this.#next(session);
  }

  /** Follows a session's transactions: what one has written is seen by others once it is committed. */
  #follow({ session, sql, scope, answer }: Statement): void {
    const { command, rowCount } = (answer?.result ?? {}) as { command?: string; rowCount?: number | null };
    session.hasWritten ||= writes.has(command) && rowCount !== 0;
    if (/^\s*begin/i.test(sql)) session.isInTransaction = true;
    if (isCommit(sql) || /^\s*rollback\b(?!\s+to)/i.test(sql)) {
      session.isInTransaction = false;
      session.localLockMs = undefined;
    }
    if (!session.isInTransaction) this.#tell(session, scope);
  }

  /** Tells that what a session has written can be seen; what a loop writes is for itself. */
  #tell(session: Session, scope: Scope): void {
    if (session.hasWritten && scope.loop === undefined) this.kernel.happened();
    session.hasWritten = false;
  }

  /** Looks which statements that waited for a lock wait no longer, and lets them go on in the order in which they came. */
  async #recheck(): Promise<void> {
    // One that is done may have held up another that was looked at before.
    const free = new Set<Statement>();
    for (let before = -1; before < free.size;) {
      before = free.size;
      for (const statement of this.#waiting) {
        if (!free.has(statement) && !(await this.#locks.isBlocked(statement))) free.add(statement);
      }
    }
    for (const statement of this.#waiting.filter((one) => free.has(one))) {
      this.#waiting.splice(this.#waiting.indexOf(statement), 1);
      this.kernel.after(0, 'has its lock', () => this.#resume(statement), { scope: statement.scope });
    }
  }

  async #resume(statement: Statement): Promise<void> {
    await this.#recheck();
    this.#deliver(statement);
  }

  /** Ends a wait for a lock when its limit is over. */
  #limit(statement: Statement): void {
    const { session } = statement;
    const limitMs = session.localLockMs ?? session.lockMs;
    if (limitMs === 0) return;
    this.kernel.after(
      limitMs,
      'lock_timeout',
      async () => {
        if (!this.#waiting.includes(statement)) return;
        this.counts.timeouts += 1;
        await this.ask('select pg_cancel_backend($1)', [session.pid]);
        while (statement.answer === undefined) await this.#locks.answerOr(statement);
        const { error } = statement.answer;
        if (error !== null) {
          const message = 'canceling statement due to lock timeout';
          Object.assign(error, { code: LOCK_NOT_AVAILABLE, message });
        }
        this.#waiting.splice(this.#waiting.indexOf(statement), 1);
        await this.#resume(statement);
      },
      { scope: statement.scope },
    );
  }
}
