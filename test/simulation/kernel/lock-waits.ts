import type pg from 'pg';
import type { Kernel } from './kernel.js';
import { real as realTime } from './real.js';
import type { Session, Statement } from './session.js';

/** The milliseconds of real time after which a statement without an answer is looked at. */
const LOOK_AFTER_MS = 3;
/** The same while no other session is in a transaction, so that hardly anything can hold a lock. */
const LOOK_LATE_MS = 100;
/** So many looks without an answer show that none will come. */
const LOOKS_MAX = 20_000;

/** Finds out which statements wait for locks, by the server's own word. */
export class LockWaits {
  /** @param ask asks the database on the simulation's own connection */
  constructor(
    private readonly kernel: Kernel,
    private readonly sessions: ReadonlyMap<pg.Client, Session>,
    private readonly ask: <Row>(sql: string, values: readonly unknown[]) => Promise<Row[]>,
  ) {}

  /** Finds out whether a statement waits for a lock. Resolves when it does, or when it is answered. */
  async isBlocked(statement: Statement): Promise<boolean> {
    for (let look = 0; ; look += 1) {
      await this.answerOr(statement, this.#mayWait(statement) ? LOOK_AFTER_MS : LOOK_LATE_MS);
      if (statement.answer !== undefined) return false;
      const [row] = await this.ask<{ blocked: boolean }>(
        'select cardinality(pg_blocking_pids($1)) > 0 as blocked',
        [statement.session.pid],
      );
      // It may have been answered between the two.
      if ((statement as { answer: unknown }).answer !== undefined) return false;
      if (row?.blocked === true) return true;
      if (look > LOOKS_MAX) throw new Error(`no answer, and no lock: ${statement.sql}`);
    }
  }

  /** Whether another session is in a transaction, and may hold what the statement needs. */
  #mayWait({ session }: Statement): boolean {
    for (const other of this.sessions.values()) {
      if (other !== session && other.isInTransaction) return true;
    }
    return false;
  }

  /** Resolves when the statement is answered, or when so many milliseconds of real time are over. */
  async answerOr(statement: Statement, limitMs = LOOK_AFTER_MS): Promise<void> {
    if (statement.answer !== undefined) return;
    await this.kernel.reallyDoing(
      new Promise<void>((resolve) => {
        const timer = realTime.setTimeout(resolve, limitMs);
        statement.answered = () => {
          realTime.clearTimeout(timer);
          resolve();
        };
      }),
    );
  }
}
