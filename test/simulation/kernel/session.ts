import type pg from 'pg';
import type { Limits } from './connection-limits.js';
import type { Scope, SimProcess } from './scope.js';

export type Callback = (error: Error | null, result?: unknown) => void;

/** A statement on its way. */
export interface Statement {
  readonly sql: string;
  readonly session: Session;
  readonly scope: Scope;
  readonly send: (done: Callback) => void;
  readonly deliver: Callback;
  /** The limit for locks that it sets for its transaction; undefined for any other statement. */
  readonly lockMs: number | undefined;
  answer: { error: Error | null; result?: unknown } | undefined;
  /** Is called when the answer is there. */
  answered: () => void;
}

/** A statement that was answered with an error. */
export interface RefusedStatement {
  /** Its beginning. */
  readonly sql: string;
  /** The SQLSTATE, or the code of a connection that broke. */
  readonly state: string;
  readonly message: string;
}

/** One connection to the database. */
export interface Session {
  readonly client: pg.Client;
  readonly process: SimProcess | undefined;
  readonly no: number;
  pid: number;
  /** What it asked the server for. */
  readonly limits: Limits;
  /** Its own limit for locks, in milliseconds of simulated time; 0: none. */
  lockMs: number;
  /** How long a transaction of its may stand idle, in milliseconds of simulated time; 0: for ever. */
  readonly idleMs: number;
  /** The limit for locks within the present transaction. */
  localLockMs: number | undefined;
  queue: Statement[];
  isBusy: boolean;
  isInTransaction: boolean;
  /** Whether the present transaction has written anything. */
  hasWritten: boolean;
  /** Whether nothing passes between its client and its server any more. */
  isSilent: boolean;
}
