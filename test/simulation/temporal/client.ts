import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type ScheduleOptions,
  type WithStartWorkflowOperation,
} from '@temporalio/client';
import type { TemporalGate } from '../../../adapters/temporal/gate.js';
import type { TemporalClient } from '../../../adapters/temporal/client.js';
import type { Outside } from '../world/outside.js';
import type { Run, Update } from './run.js';
import { copyOf } from './copy.js';
import { noSuchRun } from './history.js';
import type { Schedules } from './schedules.js';
import type { SimulatedServer } from './server.js';

interface Named {
  readonly name: string;
}

interface StartOptions {
  readonly workflowId: string;
  readonly args: readonly unknown[];
  readonly memo?: Record<string, unknown>;
  readonly workflowIdReusePolicy?: string;
  readonly workflowIdConflictPolicy?: string;
  readonly typedSearchAttributes?: readonly { key: Named; value: unknown }[];
}

interface UpdateOptions {
  readonly updateId: string;
  readonly args?: readonly unknown[];
}

/** Makes a process's way to the server. Each call takes time, and may be lost on its way there or back. */
export function createClient(server: SimulatedServer, outside: Outside): TemporalClient {
  const calls = new Calls(server, outside);
  const client = {
    workflow: {
      start: (type: string, options: StartOptions) => calls.start(type, options),
      signalWithStart: (type: string, options: StartOptions & { signal: Named; signalArgs?: unknown[] }) =>
        calls.signalWithStart(type, options),
      getHandle: (workflowId: string) => calls.handle(workflowId),
      execute: async (type: string, options: StartOptions) => {
        await calls.start(type, options);
        return calls.handle(options.workflowId).result();
      },
      executeUpdateWithStart: (
        update: Named,
        options: UpdateOptions & { startWorkflowOperation: WithStartWorkflowOperation<never> },
      ) => calls.updateWithStart(update, options),
      list: ({ query }: { query: string }) => calls.list(query),
      options: { namespace: 'simulation' },
      workflowService: {
        getWorkflowExecutionHistoryReverse: (asked: { execution: { workflowId: string; runId: string } }) =>
          calls.history(asked.execution),
      },
    },
    schedule: {
      create: (options: ScheduleOptions) => calls.schedule((schedules) => schedules.create(options)),
      getHandle: (id: string) => ({
        describe: () => calls.schedule((schedules) => schedules.describe(id)),
        update: (change: Parameters<Schedules['update']>[1]) =>
          calls.schedule((schedules) => schedules.update(id, change)),
        delete: () => calls.schedule((schedules) => schedules.delete(id)),
      }),
    },
    withDeadline: <T>(deadline: number, work: () => Promise<T>) => beforeDeadline(deadline, work),
  };
  return client as unknown as TemporalClient;
}

/** Makes the API's way to the server. */
export function createGate(server: SimulatedServer, outside: Outside): TemporalGate {
  return {
    client: createClient(server, outside),
    within: (limitMs, call) => beforeDeadline(Date.now() + limitMs, call),
    async isReachable(limitMs) {
      try {
        await beforeDeadline(Date.now() + limitMs, () => outside.call('temporal', 'look', () => undefined));
        return true;
      } catch {
        return false;
      }
    },
    close: () => Promise.resolve(),
  };
}

async function beforeDeadline<T>(deadline: number, work: () => Promise<T>): Promise<T> {
  const held: { timer?: NodeJS.Timeout } = {};
  const late = new Promise<never>((_resolve, reject) => {
    const ms = Math.max(0, deadline - Date.now());
    held.timer = setTimeout(() => reject(new Error('4 DEADLINE_EXCEEDED')), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(held.timer);
  }
}

class Calls {
  constructor(
    private readonly server: SimulatedServer,
    private readonly outside: Outside,
  ) {}

  start(type: string, options: StartOptions): Promise<unknown> {
    return this.#call('start', () => {
      this.#startNow(type, options);
      return { workflowId: options.workflowId };
    });
  }

  signalWithStart(
    type: string,
    options: StartOptions & { signal: Named; signalArgs?: readonly unknown[] },
  ): Promise<unknown> {
    return this.#call('signalWithStart', () => {
      const run = this.#startNow(type, { ...options, workflowIdConflictPolicy: 'USE_EXISTING' });
      this.server.signal(run, options.signal.name, copyOf(options.signalArgs ?? []) as unknown[]);
      return { workflowId: options.workflowId };
    });
  }

  handle(workflowId: string) {
    return {
      workflowId,
      signal: (signal: Named, ...args: unknown[]) =>
        this.#call('signal', () =>
          this.server.signal(this.#openRun(workflowId), signal.name, copyOf(args) as unknown[]),
        ),
      describe: () => this.#call('describe', () => describe(this.#anyRun(workflowId))),
      result: () => this.#result(workflowId),
      executeUpdate: (update: Named, options: UpdateOptions) =>
        this.#answerOf('update', () => this.#update(workflowId, update, options)),
    };
  }

  updateWithStart(
    update: Named,
    options: UpdateOptions & { startWorkflowOperation: WithStartWorkflowOperation<never> },
  ): Promise<unknown> {
    const { workflowTypeOrFunc, options: start } = options.startWorkflowOperation as unknown as {
      workflowTypeOrFunc: string;
      options: StartOptions;
    };
    return this.#answerOf('updateWithStart', () => {
      const run = this.server.find(start.workflowId);
      const known = run?.updates.get(options.updateId);
      if (known !== undefined) return known;
      const open = this.#startNow(workflowTypeOrFunc, start);
      return this.server.update(open, options.updateId, update.name, copyOf(options.args ?? []) as unknown[]);
    });
  }

  /** Its events, newest first. */
  history({ workflowId, runId }: { workflowId: string; runId: string }): Promise<object> {
    return this.#call('history', () => {
      const run = this.server.findRun(workflowId, runId);
      if (run === undefined) throw noSuchRun();
      return { history: { events: [...run.events].reverse() }, nextPageToken: new Uint8Array() };
    });
  }

  schedule<T>(effect: (schedules: Schedules) => T): Promise<T> {
    return this.#call('schedule', () => effect(this.server.schedules));
  }

  async *list(query: string): AsyncGenerator<object> {
    const matching = await this.#call('list', () => this.server.list().filter(matches(query)).map(describe));
    yield* [...matching].reverse();
  }

  #update(workflowId: string, update: Named, options: UpdateOptions): Update {
    const run = this.#anyRun(workflowId);
    const known = run.updates.get(options.updateId);
    if (known !== undefined) return known;
    const open = this.#openRun(workflowId);
    return this.server.update(open, options.updateId, update.name, copyOf(options.args ?? []) as unknown[]);
  }

  #startNow(type: string, options: StartOptions): Run {
    const { workflowId } = options;
    const present = this.server.find(workflowId);
    if (present?.status === 'RUNNING') {
      if (options.workflowIdConflictPolicy === 'USE_EXISTING') return present;
      throw new WorkflowExecutionAlreadyStartedError('Workflow execution already started', workflowId, type);
    }
    if (present !== undefined && options.workflowIdReusePolicy === 'REJECT_DUPLICATE') {
      throw new WorkflowExecutionAlreadyStartedError('Workflow execution already started', workflowId, type);
    }
    const run = this.server.start(type, workflowId, copyOf(options.args) as unknown[], options.memo);
    for (const { key, value } of options.typedSearchAttributes ?? []) run.attributes.set(key.name, value);
    return run;
  }

  #anyRun(workflowId: string): Run {
    const run = this.server.find(workflowId);
    if (run === undefined) throw new WorkflowNotFoundError('workflow not found', workflowId, undefined);
    return run;
  }

  #openRun(workflowId: string): Run {
    const run = this.#anyRun(workflowId);
    if (run.status !== 'RUNNING') {
      throw new WorkflowNotFoundError('workflow execution already completed', workflowId, undefined);
    }
    return run;
  }

  async #result(workflowId: string): Promise<unknown> {
    const run = await this.#call('result', () => this.#anyRun(workflowId));
    while (run.status === 'RUNNING') {
      await this.outside.until('result', (tell) => {
        run.closed.add(tell);
        return () => run.closed.delete(tell);
      });
    }
    if (run.status === 'FAILED')
      throw new WorkflowFailedError('Workflow execution failed', undefined, 'NON_RETRYABLE_FAILURE');
    return run.result;
  }

  async #answerOf(name: string, ask: () => Update): Promise<unknown> {
    const update = await this.#call(name, ask);
    while (update.outcome === undefined) {
      await this.outside.until(name, (tell) => {
        update.waiting.add(tell);
        return () => update.waiting.delete(tell);
      });
    }
    if ('error' in update.outcome) {
      throw new WorkflowUpdateFailedError('Workflow Update failed', update.outcome.error as Error);
    }
    return update.outcome.result;
  }

  #call<T>(name: string, effect: () => T): Promise<T> {
    return this.outside.call('temporal', name, effect);
  }
}

function describe(run: Run) {
  return {
    workflowId: run.workflowId,
    runId: run.runId,
    type: run.type,
    memo: copyOf(run.memo) as Record<string, unknown>,
    status: { name: run.status },
    startTime: new Date(run.startMs),
    closeTime: run.closeMs === undefined ? undefined : new Date(run.closeMs),
    typedSearchAttributes: { get: ({ name }: Named) => run.attributes.get(name) },
    // No task of a run fails here: an error of its code ends it.
    raw: { pendingWorkflowTask: null },
  };
}

/** Reads the few forms of queries that the adapters write. @throws Error for any other */
function matches(query: string): (run: Run) => boolean {
  const conditions = query.split(' AND ').map((part): ((run: Run) => boolean) => {
    if (part === "ExecutionStatus = 'Running'") return (run) => run.status === 'RUNNING';
    const quoted = [...part.matchAll(/'([^']*)'/g)].map(([, text]) => text ?? '');
    if (part.startsWith('WorkflowType')) return (run) => quoted.includes(run.type);
    if (part.startsWith('WorkflowId =')) return (run) => quoted.includes(run.workflowId);
    const atMs = Date.parse(quoted[0] ?? '');
    if (part.startsWith('StartTime >')) return (run) => run.startMs > atMs;
    if (part.startsWith('StartTime <=')) return (run) => run.startMs <= atMs;
    throw new Error(`the simulated server can't read the query ${query}`);
  });
  return (run) => conditions.every((holds) => holds(run));
}
