import { ApplicationFailure, TimeoutFailure, type RetryPolicy } from '@temporalio/common';
import { msOptionalToNumber, msToNumber } from '@temporalio/common/lib/time.js';
import type { Chance } from '../kernel/chance.js';
import type { Entry, Kernel } from '../kernel/kernel.js';
import type { Loop } from '../kernel/loop.js';
import { within, type SimProcess } from '../kernel/scope.js';
import type { Run, TaskOptions } from './run.js';
import { Beats } from './beats.js';
import { copyOf } from './copy.js';
import { loopOfScheduled, newLoop, scopeOf } from './quiet.js';
import { runWithContext } from './context.js';

export type ActivityCode = (...args: unknown[]) => Promise<unknown>;

/** A worker that polls: its process and its activities. */
export interface Worker {
  readonly process: SimProcess;
  readonly activities: Readonly<Record<string, ActivityCode>>;
  /** Runs before a loop rests; it may set the loop's due instant. */
  readonly beforeRest: (loop: Loop) => Promise<void>;
}

/** An activity on its way: its tries, until one counts. */
interface Task {
  readonly run: Run;
  readonly name: string;
  readonly args: unknown[];
  readonly scheduledMs: number;
  readonly limits: { startToCloseMs?: number; heartbeatMs?: number; closeBy: number };
  readonly retry: Required<Pick<RetryPolicy, 'backoffCoefficient' | 'maximumAttempts'>> & {
    firstMs: number;
    mostMs: number;
  };
  readonly isLocal: boolean;
  readonly beats: Beats;
  attempt: number;
  current: Attempt | undefined;
  isOver: boolean;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

interface Attempt {
  readonly no: number;
  readonly process: SimProcess;
  readonly cancel: () => void;
  timeout: Entry | undefined;
}

/** Loops, and those of them whose round must come right before whatever happens next. */
const loopNames = new Set([
  'runMeter',
  'runSequencer',
  'wakeWebhooks',
  'watchProvider',
  'runUpkeep',
  'deliverMails',
]);

/** How soon what waits for a worker that stands still is looked at again, in milliseconds. */
const POLL_MS = 500;

/** Hands activities to workers, as the server does: with tries, time-outs, and tries that overlap. */
export class Tasks {
  #workers: Worker[] = [];
  #waiting: (() => void)[] = [];
  readonly #tasks = new Set<Task>();
  /** By name: a loop goes on in the next activity where the one before has ended. */
  readonly #loops = new Map<string, Loop>();
  readonly reached = new Set<string>();
  /** The names of all activities that workers have had. */
  activities: readonly string[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly chance: Chance,
    private readonly counts: { activities: number; retries: number; overlaps: number },
  ) {}

  get hasWorker(): boolean {
    return this.#workers.length > 0;
  }

  /** Does something as soon as there is a worker again. */
  onWorker(work: () => void): void {
    this.#waiting.push(work);
  }

  addWorker(worker: Worker): void {
    this.#workers.push(worker);
    this.activities = Object.keys(worker.activities);
    for (const work of this.#waiting.splice(0)) work();
  }

  loseWorker(process: SimProcess): void {
    this.#workers = this.#workers.filter((worker) => worker.process !== process);
    for (const task of this.#tasks) {
      const { current } = task;
      if (current?.process !== process) continue;
      this.kernel.cancel(current.timeout);
      const { heartbeatMs, startToCloseMs = Infinity } = task.limits;
      const limitMs = task.isLocal ? 5_000 : Math.min(heartbeatMs ?? Infinity, startToCloseMs);
      current.timeout = this.kernel.after(
        Math.min(limitMs, Math.max(0, task.limits.closeBy - this.kernel.nowMs)),
        `${task.name} is lost`,
        () => this.#timeOut(task, current, heartbeatMs === undefined ? 'START_TO_CLOSE' : 'HEARTBEAT'),
        { scope: {} },
      );
    }
  }

  /** Takes the activities of a process for lost that stands still for longer than they may be silent. */
  freeze(process: SimProcess, ms: number): void {
    for (const task of this.#tasks) {
      const { current, limits, isLocal, name } = task;
      const { heartbeatMs = Infinity } = limits;
      if (current?.process !== process || isLocal || loopNames.has(name) || heartbeatMs > ms) continue;
      this.kernel.after(heartbeatMs, `${name} is silent`, () => this.#timeOut(task, current, 'HEARTBEAT'), {
        scope: {},
      });
    }
  }

  /** Forgets the activities of a run that has ended: their results count no more. */
  abandon(run: Run): void {
    for (const task of this.#tasks) if (task.run === run) this.#over(task);
  }

  schedule(run: Run, name: string, args: unknown[], options: TaskOptions): Promise<unknown> {
    const { retry = {} } = options;
    const closeMs = msOptionalToNumber(options.scheduleToCloseTimeout);
    return this.#begin(run, name, args, false, {
      limits: {
        ...limit('startToCloseMs', msOptionalToNumber(options.startToCloseTimeout)),
        ...limit('heartbeatMs', msOptionalToNumber(options.heartbeatTimeout)),
        closeBy: closeMs === undefined ? Infinity : this.kernel.nowMs + closeMs,
      },
      retry,
    });
  }

  runLocally(run: Run, name: string, args: unknown[], options: TaskOptions): Promise<unknown> {
    const closeMs = msOptionalToNumber(options.scheduleToCloseTimeout) ?? 10_000;
    return this.#begin(run, name, args, true, {
      limits: {
        ...limit('startToCloseMs', msOptionalToNumber(options.startToCloseTimeout)),
        closeBy: this.kernel.nowMs + closeMs,
      },
      retry: options.retry ?? {},
    });
  }

  /** Lets an activity's try be taken for lost while it goes on. @returns whether there was one */
  overlapOne(): boolean {
    const able = [...this.#tasks].filter(
      ({ current, isLocal, name }) => current?.process.isAlive === true && !isLocal && !loopNames.has(name),
    );
    if (able.length === 0) return false;
    const task = this.chance.pick(able);
    if (task.current === undefined) return false;
    this.counts.overlaps += 1;
    this.reached.add(`overlap ${task.name}`);
    this.#timeOut(task, task.current, 'HEARTBEAT');
    return true;
  }

  #begin(
    run: Run,
    name: string,
    args: unknown[],
    isLocal: boolean,
    { limits, retry }: { limits: Task['limits']; retry: RetryPolicy },
  ): Promise<unknown> {
    this.counts.activities += 1;
    return new Promise((resolve, reject) => {
      const task: Task = {
        ...{ run, name, args: copyOf(args) as unknown[], scheduledMs: this.kernel.nowMs, limits, isLocal },
        retry: {
          firstMs: msToNumber(retry.initialInterval ?? '1s'),
          mostMs: msToNumber(retry.maximumInterval ?? '100s'),
          backoffCoefficient: retry.backoffCoefficient ?? 2,
          maximumAttempts: retry.maximumAttempts ?? Infinity,
        },
        ...{
          beats: new Beats(limits.heartbeatMs),
          attempt: 0,
          current: undefined,
          isOver: false,
          resolve,
          reject,
        },
      };
      this.#tasks.add(task);
      this.#dispatch(task, this.chance.below(isLocal ? 2 : 30));
    });
  }

  #dispatch(task: Task, afterMs: number): void {
    this.kernel.after(
      afterMs,
      `starts ${task.name}`,
      () => {
        if (task.isOver) return;
        const awake = this.#workers.filter(({ process }) => process.frozenUntilMs <= this.kernel.nowMs);
        if (awake.length > 0) this.#try(task, this.chance.pick(awake));
        else if (!this.hasWorker) this.onWorker(() => this.#dispatch(task, 0));
        else this.#dispatch(task, POLL_MS);
      },
      { scope: scopeOf(task.run.type) },
    );
  }

  #try(task: Task, worker: Worker): void {
    task.attempt += 1;
    this.reached.add(`activity ${task.name}`);
    if (task.attempt > 1) {
      this.counts.retries += 1;
      this.reached.add(`retry ${task.name}`);
    }
    let cancel = (): void => undefined;
    const cancelled = new Promise<void>((resolve) => (cancel = resolve));
    const attempt: Attempt = {
      ...{ no: task.attempt, process: worker.process, cancel, timeout: undefined },
    };
    task.current = attempt;
    const isLoop = loopNames.has(task.name);
    const { startToCloseMs = Infinity, closeBy } = task.limits;
    const limitMs = Math.min(startToCloseMs, closeBy - this.kernel.nowMs);
    if (!isLoop && limitMs !== Infinity) {
      attempt.timeout = this.kernel.after(
        limitMs,
        `${task.name} is late`,
        () => this.#timeOut(task, attempt, 'START_TO_CLOSE'),
        { scope: {}, isWeak: false },
      );
    }
    const loop = isLoop ? this.#loopOf(task) : undefined;
    const { process } = worker;
    const scopeLoop = loop ?? loopOfScheduled(task.run.type);
    const scope = { process, duty: task.name, ...(scopeLoop === undefined ? {} : { loop: scopeLoop }) };
    const code = worker.activities[task.name];
    if (code === undefined) throw new Error(`no activity ${task.name}`);
    const { kernel } = this;
    const info = {
      ...{
        attempt: task.attempt,
        activityType: task.name,
        workflowType: task.run.type,
        heartbeatDetails: task.beats.begin(),
      },
      ...{ workflowExecution: { workflowId: task.run.workflowId, runId: task.run.runId } },
    };
    const rest = loop && ((ms: number) => worker.beforeRest(loop).then(() => resting(kernel, loop, ms)));
    const beat = (details: unknown): void => {
      if (task.current === attempt && process.isAlive) task.beats.tell(details, kernel.nowMs);
    };
    const server = { over: cancelled, rest, beat };
    void within(scope, () => runWithContext(info, server, () => code(...task.args))).then(
      (result) => this.#done(task, attempt, () => task.resolve(copyOf(result))),
      (error: unknown) => this.#failed(task, attempt, error),
    );
  }

  #loopOf({ name, args }: Task): Loop {
    const key = typeof args[0] === 'string' ? `${name} ${args[0]}` : name;
    const known = this.#loops.get(key);
    if (known !== undefined) return known;
    const loop = newLoop(key, { isAhead: name === 'watchProvider' });
    this.#loops.set(key, loop);
    return loop;
  }

  #done(task: Task, attempt: Attempt, settle: () => void): void {
    if (task.isOver || task.current !== attempt || !attempt.process.isAlive) return;
    this.kernel.cancel(attempt.timeout);
    this.#over(task);
    settle();
    this.kernel.moved();
  }

  #failed(task: Task, attempt: Attempt, error: unknown): void {
    if (task.isOver || task.current !== attempt || !attempt.process.isAlive) return;
    this.kernel.cancel(attempt.timeout);
    this.reached.add(`failure ${task.name} ${error instanceof ApplicationFailure ? String(error.type) : ''}`);
    const isFinal = error instanceof ApplicationFailure && error.nonRetryable === true;
    task.beats.send(this.kernel.nowMs);
    this.#retryOr(task, isFinal, error);
  }

  #timeOut(task: Task, attempt: Attempt, type: 'HEARTBEAT' | 'START_TO_CLOSE'): void {
    if (task.isOver || task.current !== attempt) return;
    attempt.cancel();
    this.kernel.cancel(attempt.timeout);
    // A local activity of a worker that died belongs to a task that is done anew.
    const isAnew = task.isLocal && !attempt.process.isAlive;
    if (isAnew) {
      task.attempt -= 1;
      task.current = undefined;
      task.limits.closeBy = this.kernel.nowMs + msToNumber('2500ms');
      this.#dispatch(task, 0);
      return;
    }
    this.#retryOr(task, false, new TimeoutFailure(`activity ${type} timeout`, undefined, type));
  }

  #retryOr(task: Task, isFinal: boolean, error: unknown): void {
    task.current = undefined;
    const { retry, limits } = task;
    const said = (error as { nextRetryDelay?: string | number }).nextRetryDelay;
    const pauseMs =
      said === undefined
        ? Math.min(retry.mostMs, retry.firstMs * retry.backoffCoefficient ** (task.attempt - 1))
        : msToNumber(said);
    const isLate = this.kernel.nowMs + pauseMs >= limits.closeBy;
    if (isFinal || isLate || task.attempt >= retry.maximumAttempts) {
      this.#over(task);
      task.reject(error);
      this.kernel.moved();
      return;
    }
    this.#dispatch(task, pauseMs);
  }

  #over(task: Task): void {
    task.isOver = true;
    this.kernel.cancel(task.current?.timeout);
    this.#tasks.delete(task);
  }
}

function resting(kernel: Kernel, loop: Loop, ms: number): Promise<void> {
  return new Promise((resolve) => kernel.rest(loop, ms, resolve));
}

function limit<K extends string>(name: K, ms: number | undefined): Partial<Record<K, number>> {
  return ms === undefined ? {} : ({ [name]: ms } as Record<K, number>);
}
