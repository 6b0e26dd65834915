import type { RetryPolicy } from '@temporalio/common';
import type { Duration } from '@temporalio/common/lib/time.js';
import { eventOf, type HistoryEvent } from './history.js';

/** How an activity is to be done, as its proxy says. */
export interface TaskOptions {
  readonly startToCloseTimeout?: Duration;
  readonly scheduleToCloseTimeout?: Duration;
  readonly heartbeatTimeout?: Duration;
  readonly retry?: RetryPolicy;
}

/** A timer of a run. */
export interface RunTimer {
  readonly fired: Promise<void>;
  cancel(): void;
}

/** What a run's code asks of the server. */
export interface RunHost {
  scheduleActivity(run: Run, name: string, args: unknown[], options: TaskOptions): Promise<unknown>;
  runLocally(run: Run, name: string, args: unknown[], options: TaskOptions): Promise<unknown>;
  timer(run: Run, ms: number): RunTimer;
  note(run: Run, message: string): void;
}

type Handler = (...args: unknown[]) => unknown;

/** An update of a run, with its outcome once there is one. */
export interface Update {
  readonly id: string;
  readonly name: string;
  readonly args: readonly unknown[];
  outcome: { readonly result: unknown } | { readonly error: unknown } | undefined;
  readonly waiting: Set<() => void>;
}

interface Condition {
  readonly holds: () => boolean;
  readonly resolve: () => void;
}

/** One run of a workflow. The server keeps it, so it survives each crash of a worker. */
export class Run {
  status: 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CONTINUED_AS_NEW' = 'RUNNING';
  closeMs: number | undefined;
  result: unknown;
  failure: unknown;
  historyLength = 3;
  signals = 0;
  /** How many handlers run. */
  handling = 0;
  readonly conditions = new Set<Condition>();
  readonly attributes = new Map<string, unknown>();
  readonly updates = new Map<string, Update>();
  readonly closed = new Set<() => void>();
  /** Its history, oldest first. */
  readonly events: HistoryEvent[] = [];
  readonly #handlers = new Map<string, Handler>();
  #early: { name: string; give: (handler: Handler) => void; args: readonly unknown[] }[] = [];

  constructor(
    readonly host: RunHost,
    readonly workflowId: string,
    readonly runId: string,
    readonly type: string,
    readonly args: readonly unknown[],
    readonly startMs: number,
    readonly memo: Record<string, unknown>,
  ) {}

  /** Writes an event into its history. */
  note(atMs: number, attributes: string, told: object): void {
    this.events.push(eventOf(atMs, attributes, told));
  }

  /** Gives a message to its handler now, or as soon as there is one. */
  give(
    type: 'signal' | 'update',
    name: string,
    args: readonly unknown[],
    give: (handler: Handler) => void,
  ): void {
    const handler = this.#handlers.get(`${type} ${name}`);
    if (handler === undefined) this.#early.push({ name: `${type} ${name}`, give, args });
    else give(handler);
  }

  setHandler(type: 'signal' | 'update', name: string, handler: (...args: never[]) => unknown): void {
    const key = `${type} ${name}`;
    this.#handlers.set(key, handler as Handler);
    const early = this.#early.filter((message) => message.name === key);
    this.#early = this.#early.filter((message) => message.name !== key);
    for (const message of early) message.give(handler as Handler);
  }

  /** The signals that no handler took: a new run of the same workflow gets them. */
  takeUnhandled(): { name: string; args: readonly unknown[] }[] {
    return this.#early
      .filter(({ name }) => name.startsWith('signal '))
      .map(({ name, args }) => ({ name: name.slice('signal '.length), args }));
  }

  /** Lets go on what waits for a condition that holds. @returns whether something does */
  settle(): boolean {
    let moved = false;
    for (const waiting of [...this.conditions]) {
      if (!waiting.holds()) continue;
      this.conditions.delete(waiting);
      waiting.resolve();
      moved = true;
    }
    return moved;
  }
}
