import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import { within, type SimProcess } from '../kernel/scope.js';
import { copyOf } from './copy.js';
import { payloadsOf } from './history.js';
import { Schedules } from './schedules.js';
import { Tasks, type Worker } from './tasks.js';
import { isLoop, LOOP_RUN_MS, scopeOf } from './quiet.js';
import { ContinuesAsNew, runs } from './workflow.js';
import { Run, type RunHost, type RunTimer, type TaskOptions, type Update } from './run.js';

/** The server's own limits of one run: it ends a run whose history is longer. */
const HISTORY_MAX = 51_200;
const SIGNALS_MAX = 10_000;
const UPDATES_MAX = 2_000;
/** How long the namespace keeps a closed run. */
const RETENTION_MS = 24 * 3_600_000;

/** How a history tells of a run's end. */
const closings = {
  COMPLETED: 'workflowExecutionCompleted',
  FAILED: 'workflowExecutionFailed',
  CONTINUED_AS_NEW: 'workflowExecutionContinuedAsNew',
} as const;

type WorkflowCode = (...args: unknown[]) => Promise<unknown>;

/** The server that the workflows run on: its state survives every crash of a worker. */
export class SimulatedServer implements RunHost {
  readonly counts = {
    ...{ runs: 0, signals: 0, updates: 0, activities: 0, retries: 0, timers: 0, overlaps: 0 },
    /** The longest history of any run, in events, and the most signals that one has had. */
    ...{ longestHistory: 0, mostSignals: 0 },
  };
  readonly reached = new Set<string>();
  readonly tasks: Tasks;
  readonly schedules: Schedules;
  /** By workflow id, oldest first. */
  readonly #runs = new Map<string, Run[]>();
  readonly #open = new Set<Run>();
  #no = 0;

  constructor(
    readonly kernel: Kernel,
    readonly chance: Chance,
    private readonly code: Readonly<Record<string, WorkflowCode>>,
  ) {
    this.tasks = new Tasks(kernel, chance, this.counts);
    this.schedules = new Schedules(kernel, (type, workflowId, args) => this.start(type, workflowId, args));
    kernel.onQuiet = () => this.#settle();
  }

  /** The workers that poll now; without any, everything waits. */
  addWorker(worker: Worker): void {
    this.tasks.addWorker(worker);
  }

  /** Notices that a worker has gone: the time-outs of what it did go on. */
  loseWorker(process: SimProcess): void {
    this.tasks.loseWorker(process);
  }

  /** Returns the newest run of a workflow that is open or still kept. */
  find(workflowId: string): Run | undefined {
    const run = this.#runs.get(workflowId)?.at(-1);
    const isForgotten = run?.closeMs !== undefined && this.kernel.nowMs - run.closeMs > RETENTION_MS;
    return isForgotten ? undefined : run;
  }

  /** Returns a run of a workflow by its id, or the newest one for none; undefined: it is not kept. */
  findRun(workflowId: string, runId: string): Run | undefined {
    if (runId === '') return this.find(workflowId);
    return this.#runs.get(workflowId)?.find((run) => run.runId === runId);
  }

  /** Lists all kept runs. */
  list(): Run[] {
    const kept = (run: Run): boolean =>
      run.closeMs === undefined || this.kernel.nowMs - run.closeMs <= RETENTION_MS;
    return [...this.#runs.values()].flat().filter(kept);
  }

  get openRuns(): ReadonlySet<Run> {
    return this.#open;
  }

  start(
    type: string,
    workflowId: string,
    args: readonly unknown[],
    memo: Record<string, unknown> = {},
    continuedExecutionRunId = '',
  ): Run {
    this.#no += 1;
    this.counts.runs += 1;
    this.reached.add(`workflow ${type} starts`);
    const run = new Run(this, workflowId, `run-${this.#no}`, type, args, this.kernel.nowMs, { ...memo });
    run.note(this.kernel.nowMs, 'workflowExecutionStarted', { continuedExecutionRunId });
    const all = this.#runs.get(workflowId) ?? [];
    this.#runs.set(workflowId, [
      ...all.filter(({ closeMs }) => closeMs === undefined || this.#isKept(closeMs)),
      run,
    ]);
    this.#open.add(run);
    const given = isLoop(type) ? [{ ...(args[0] as object), runMs: LOOP_RUN_MS }] : args;
    const workflow = this.code[type];
    if (workflow === undefined) throw new Error(`no workflow ${type}`);
    this.#task(run, `begins ${type}`, () => {
      void runs.run(run, async () => {
        try {
          this.#close(run, 'COMPLETED', await workflow(...given));
        } catch (error) {
          this.#end(run, error);
        }
      });
    });
    return run;
  }

  signal(run: Run, name: string, args: readonly unknown[]): void {
    run.signals += 1;
    run.historyLength += 1;
    this.counts.signals += 1;
    this.counts.mostSignals = Math.max(this.counts.mostSignals, run.signals);
    if (run.signals > SIGNALS_MAX) throw new Error('the run has as many signals as it may');
    this.#task(run, `signal ${name}`, () => {
      run.give('signal', name, args, (handler) => void runs.run(run, () => handler(...args)));
    });
  }

  /** Gives an update to its run, or attaches to the one of the same id. */
  update(run: Run, id: string, name: string, args: readonly unknown[]): Update {
    const known = run.updates.get(id);
    if (known !== undefined) return known;
    const update: Update = { id, name, args, outcome: undefined, waiting: new Set() };
    run.updates.set(id, update);
    if (run.updates.size > UPDATES_MAX) throw new Error('the run has as many updates as it may');
    this.counts.updates += 1;
    this.#task(run, `update ${name}`, () => {
      run.note(this.kernel.nowMs, 'workflowExecutionUpdateAccepted', {
        acceptedRequest: { input: { name } },
      });
      run.give('update', name, args, (handler) => {
        run.handling += 1;
        void runs.run(run, async () => {
          try {
            decide(update, { result: copyOf(await handler(...args)) });
          } catch (error) {
            decide(update, { error });
          } finally {
            run.handling -= 1;
            run.historyLength += 2;
          }
        });
      });
    });
    return update;
  }

  timer(run: Run, ms: number): RunTimer {
    run.historyLength += 2;
    this.counts.timers += 1;
    let resolve = (): void => undefined;
    const fired = new Promise<void>((done) => (resolve = done));
    const entry = this.kernel.after(
      ms,
      `timer of ${run.type}`,
      () => this.#task(run, 'timer fires', resolve),
      { scope: {} },
    );
    return { fired, cancel: () => this.kernel.cancel(entry) };
  }

  async scheduleActivity(run: Run, name: string, args: unknown[], options: TaskOptions): Promise<unknown> {
    run.historyLength += 3;
    const done = this.tasks.schedule(run, name, args, options);
    return this.#outcomeOf(run, name, done, (result) =>
      run.note(this.kernel.nowMs, 'activityTaskCompleted', { result: payloadsOf(result) }),
    );
  }

  async runLocally(run: Run, name: string, args: unknown[], options: TaskOptions): Promise<unknown> {
    run.historyLength += 1;
    const done = this.tasks.runLocally(run, name, args, options);
    return this.#outcomeOf(run, name, done, (result) =>
      run.note(this.kernel.nowMs, 'markerRecorded', { details: { result: payloadsOf(result) } }),
    );
  }

  note(run: Run, message: string): void {
    this.kernel.trace.line(this.kernel.nowMs, `${run.type} says: ${message}`);
  }

  /** Gives an activity's outcome to its run, in a task of the run's own. */
  #outcomeOf(
    run: Run,
    name: string,
    done: Promise<unknown>,
    note: (result: unknown) => void,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      done.then(
        (result) => {
          note(result);
          this.#task(run, `${name} is done`, () => resolve(result));
        },
        (cause: unknown) => {
          const wrapped =
            cause instanceof ApplicationFailure || cause instanceof TimeoutFailure
              ? cause
              : ApplicationFailure.create({ message: String(cause) });
          const failure = new ActivityFailure(
            'Activity task failed',
            name,
            '1',
            'NON_RETRYABLE_FAILURE',
            '',
            wrapped,
          );
          this.#task(run, `${name} has failed`, () => reject(failure));
        },
      );
    });
  }

  /** A task of a run: a worker takes it, at once or when there is one again. */
  #task(run: Run, label: string, work: () => void): void {
    this.kernel.after(
      this.chance.below(20),
      `${run.type}: ${label}`,
      () => {
        if (run.status !== 'RUNNING') return;
        if (!this.tasks.hasWorker) {
          this.tasks.onWorker(() => this.#task(run, label, work));
          return;
        }
        run.historyLength += 3;
        this.counts.longestHistory = Math.max(this.counts.longestHistory, run.historyLength);
        if (run.historyLength > HISTORY_MAX) throw new Error(`the history of ${run.type} is too long`);
        this.kernel.moved();
        within(scopeOf(run.type), work);
      },
      { scope: scopeOf(run.type) },
    );
  }

  #settle(): boolean {
    let moved = false;
    for (const run of this.#open) moved = runs.run(run, () => run.settle()) || moved;
    return moved;
  }

  #end(run: Run, error: unknown): void {
    if (!(error instanceof ContinuesAsNew)) {
      run.failure = error;
      this.kernel.trace.line(this.kernel.nowMs, `${run.type} FAILED ${String(error)}`);
      this.#close(run, 'FAILED', undefined);
      return;
    }
    const unhandled = run.takeUnhandled();
    this.reached.add(`workflow ${run.type} continues as new`);
    this.#close(run, 'CONTINUED_AS_NEW', undefined);
    const next = this.start(
      run.type,
      run.workflowId,
      copyOf(error.args) as unknown[],
      error.memo ?? run.memo,
      run.runId,
    );
    for (const [name, value] of run.attributes) next.attributes.set(name, value);
    for (const { name, args } of unhandled) this.signal(next, name, args);
  }

  #close(run: Run, status: Exclude<Run['status'], 'RUNNING'>, result: unknown): void {
    run.status = status;
    run.result = copyOf(result);
    run.closeMs = this.kernel.nowMs;
    run.note(this.kernel.nowMs, closings[status], { result: payloadsOf(run.result) });
    this.#open.delete(run);
    run.conditions.clear();
    this.tasks.abandon(run);
    for (const update of run.updates.values()) {
      decide(update, { error: new Error('the workflow has ended before the update') });
    }
    for (const tell of run.closed) tell();
    this.kernel.moved();
  }

  #isKept(closeMs: number): boolean {
    return this.kernel.nowMs - closeMs <= RETENTION_MS;
  }
}

function decide(update: Update, outcome: NonNullable<Update['outcome']>): void {
  if (update.outcome !== undefined) return;
  update.outcome = outcome;
  for (const tell of update.waiting) tell();
}
