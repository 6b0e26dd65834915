import assert from 'node:assert/strict';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  WithStartWorkflowOperation,
  WorkflowUpdateFailedError,
  type WorkflowHandle,
} from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Activities } from '../../../activities/index.js';
import { taskQueues } from '../../../domain/task-queues.js';
import { createTestNamespace, type TestNamespace } from '../servers/namespace.js';
import { getBundle } from '../service/workers.js';

type Answer<K extends keyof Activities> =
  | Awaited<ReturnType<Activities[K]>>
  | ReturnType<Activities[K]>
  | (Awaited<ReturnType<Activities[K]>> extends undefined ? Promise<void> : never);

/** The answers of one workflow's activities, by their registered names. A call of any other activity fails. */
export type Script = {
  readonly [K in keyof Activities]?: (...args: Parameters<Activities[K]>) => Answer<K>;
};

/** A call of an activity: its registered name, then its arguments. */
type Call = readonly [name: string, ...args: unknown[]];

/** One workflow whose activities have nothing behind them. */
export class MockedRun {
  /** The calls, in the order of their arrival. */
  readonly calls: Call[] = [];
  private readonly watchers = new Set<() => void>();
  private failUnscripted: (error: Error) => void = () => undefined;
  /** Never settles, unless the workflow calls an activity that is not scripted. */
  private readonly unscripted = new Promise<never>((_resolve, reject) => (this.failUnscripted = reject));

  constructor(
    readonly handle: WorkflowHandle,
    private readonly script: Script,
  ) {
    this.unscripted.catch(() => undefined);
  }

  /** The names of the calls, for tests about the order. */
  get names(): string[] {
    return this.calls.map(([name]) => name);
  }

  /**
   * The workflow's result.
   * @throws Error when it called an activity that is not scripted
   */
  result(): Promise<unknown> {
    return Promise.race([this.handle.result(), this.unscripted]);
  }

  /** Waits until an activity is called for the nth time; its answer may still be under way. */
  async called(name: keyof Activities, times = 1): Promise<void> {
    const isCalled = (): boolean => this.names.filter((called) => called === name).length >= times;
    const calledOften = new Promise<void>((resolve) => {
      const watch = (): void => {
        if (isCalled()) resolve();
      };
      this.watchers.add(watch);
      watch();
    });
    await Promise.race([calledOften, this.unscripted]);
  }

  /**
   * Waits until the workflow has begun to wait for the nth time.
   * @returns the length of each wait in milliseconds
   * @throws Error when the workflow ends before
   */
  async waits(times: number): Promise<number[]> {
    return Promise.race([this.awaitTimers(times), this.unscripted]);
  }

  /** The length of each of its waits, in milliseconds. */
  async timers(): Promise<number[]> {
    const { events } = await this.handle.fetchHistory();
    return timersIn(events);
  }

  private async awaitTimers(times: number): Promise<number[]> {
    const { workflowService, options } = this.handle.client;
    const execution = { workflowId: this.handle.workflowId };
    const begun: number[] = [];
    for (let token: Uint8Array | undefined; ;) {
      const { history, nextPageToken } = await workflowService.getWorkflowExecutionHistory({
        namespace: options.namespace,
        execution,
        waitNewEvent: true,
        ...(token === undefined ? {} : { nextPageToken: token }),
      });
      begun.push(...timersIn(history?.events));
      if (begun.length >= times) return begun;
      if (nextPageToken.length === 0) throw new Error(`it ended after ${begun.length} of ${times} waits`);
      token = nextPageToken;
    }
  }

  /** The states of the updates that it received, oldest first. */
  async updates(): Promise<('accepted' | 'completed')[]> {
    const { events } = await this.handle.fetchHistory();
    return (events ?? []).flatMap((event) => {
      if (event.workflowExecutionUpdateAcceptedEventAttributes) return ['accepted' as const];
      return event.workflowExecutionUpdateCompletedEventAttributes ? ['completed' as const] : [];
    });
  }

  /** The search attributes that operators filter by, as the workflow left them. */
  async attributes(): Promise<Record<string, unknown>> {
    const { typedSearchAttributes } = await this.handle.describe();
    const all = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value] as const);
    // The server's own attributes name the worker and the patches that the run goes by.
    const own = ['BuildIds', 'TemporalChangeVersion'];
    return Object.fromEntries(all.filter(([name]) => !own.includes(name)));
  }

  /** Answers a call as scripted. Only the worker calls it. */
  answer(name: string, args: unknown[]): unknown {
    this.calls.push([name, ...args]);
    for (const watch of this.watchers) watch();
    const scripted = (this.script as Record<string, ((...told: unknown[]) => unknown) | undefined>)[name];
    if (scripted) return scripted(...args);
    this.failUnscripted(new Error(`${name}(${JSON.stringify(args)}) was called after ${this.names.join()}`));
    throw ApplicationFailure.nonRetryable(`${name} is not scripted`);
  }
}

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

function timersIn(events: History['events']): number[] {
  return (events ?? []).flatMap(({ timerStartedEventAttributes: started }) => {
    if (!started) return [];
    const { seconds, nanos } = started.startToFireTimeout ?? {};
    return [Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1_000_000];
  });
}

/** The product's workflows on a real Temporal server, each with scripted activities of its own. */
export class MockedWorkflows {
  private constructor(
    readonly namespace: TestNamespace,
    /** The runs by workflow id. */
    private readonly runs: Map<string, MockedRun>,
    private readonly stopWorkers: () => Promise<void>,
  ) {}

  /** Starts one worker per queue for all tests of a file. Call `stop` in an `after` hook. */
  static async start(): Promise<MockedWorkflows> {
    const namespace = await createTestNamespace();
    const connection = await NativeConnection.connect({ address: namespace.address });
    const runs = new Map<string, MockedRun>();
    const activities = { default: (...args: unknown[]) => answerOf(runs, args) };
    // A failed test may have left an activity that never answers: no worker waits for it.
    const shared = { connection, namespace: namespace.name, activities, shutdownForceTime: '2s' } as const;
    const workers = [
      await Worker.create({ ...shared, taskQueue: taskQueues.rentals, workflowBundle: await getBundle() }),
      await Worker.create({ ...shared, taskQueue: taskQueues.upstream }),
      await Worker.create({ ...shared, taskQueue: taskQueues.meter }),
      await Worker.create({ ...shared, taskQueue: taskQueues.mail }),
      await Worker.create({ ...shared, taskQueue: taskQueues.webhooks }),
    ];
    const ended = Promise.all(workers.map((worker) => worker.run()));
    return new MockedWorkflows(namespace, runs, async () => {
      for (const worker of workers) worker.shutdown();
      try {
        await ended;
      } finally {
        await connection.close();
      }
    });
  }

  /**
   * Starts a workflow.
   * @param type its registered name
   * @param script the answers of its activities
   */
  async begin(type: string, workflowId: string, input: object, script: Script): Promise<MockedRun> {
    const run = this.expect(workflowId, script);
    const options = { workflowId, taskQueue: taskQueues.rentals, args: [input] };
    await this.namespace.client.workflow.start(type, options);
    return run;
  }

  /**
   * Starts a workflow and sends it the update `open` in one call, as the API does.
   * @returns its run, and the update's answer
   */
  async open(
    type: string,
    workflowId: string,
    input: object,
    script: Script,
  ): Promise<{ run: MockedRun; answer: Promise<unknown> }> {
    const run = this.expect(workflowId, script);
    const startWorkflowOperation = new WithStartWorkflowOperation(type, {
      workflowId,
      taskQueue: taskQueues.rentals,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    const update = { updateId: 'open', startWorkflowOperation };
    const answer = this.namespace.client.workflow.executeUpdateWithStart('open', update);
    answer.catch(() => undefined);
    await startWorkflowOperation.workflowHandle();
    return { run, answer };
  }

  async stop(): Promise<void> {
    try {
      await this.stopWorkers();
    } finally {
      await this.namespace.close();
    }
  }

  private expect(workflowId: string, script: Script): MockedRun {
    const run = new MockedRun(this.namespace.client.workflow.getHandle(workflowId), script);
    this.runs.set(workflowId, run);
    return run;
  }
}

/** Answers an activity's call with the script of the workflow that made it. */
async function answerOf(runs: ReadonlyMap<string, MockedRun>, args: unknown[]): Promise<unknown> {
  const context = Context.current();
  const { activityType, workflowExecution } = context.info;
  const run = runs.get(workflowExecution?.workflowId ?? '');
  if (!run) throw ApplicationFailure.nonRetryable('no test has begun this workflow');
  // One that waits for its test lives, however slow the machine is.
  const beating = setInterval(() => context.heartbeat(), 1_000);
  try {
    return await run.answer(activityType, args);
  } finally {
    clearInterval(beating);
  }
}

/**
 * Answers in turn; an error among the answers is thrown.
 * @throws Error when there are more calls than answers
 */
export function inTurn<T>(...answers: readonly (T | Error)[]): () => Promise<T> {
  let asked = 0;
  return () => {
    const answer = answers[asked];
    asked += 1;
    if (asked > answers.length) {
      return Promise.reject(
        ApplicationFailure.nonRetryable(`asked ${asked} times, answers ${answers.length}`),
      );
    }
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as T);
  };
}

/** A failure with a next try after the end of the activity's schedule: the server gives the activity up. */
export function usingUpItsSchedule(): ApplicationFailure {
  return ApplicationFailure.create({ message: 'it is away', nextRetryDelay: '3 days' });
}

/** Holds something back until a test lets it go on. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** A gate that keeps an activity from answering until the test opens it. */
export function closedGate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

/**
 * The failure with which an update is refused.
 * @throws AssertionError when the update was answered
 */
export async function failureOf(answer: Promise<unknown>): Promise<ApplicationFailure> {
  const error = await answer.then(
    () => assert.fail('it was answered'),
    (refused: unknown) => refused,
  );
  assert.ok(error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure);
  return error.cause;
}
