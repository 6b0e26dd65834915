/**
 * Stands in for `@temporalio/workflow`: the parts of it that the workflows use. tsconfig.simulation.json puts it in its
 * place.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TemporalFailure,
  type SearchAttributePair,
  type SignalDefinition,
  type UpdateDefinition,
} from '@temporalio/common';
import { msToNumber, type Duration } from '@temporalio/common/lib/time.js';
import type { Run, TaskOptions } from './run.js';

export { ActivityFailure, ApplicationFailure, TemporalFailure };

/** The run whose code is the present one. */
export const runs = new AsyncLocalStorage<Run>();

/** Thrown by a run that goes on as a new one. */
export class ContinuesAsNew extends Error {
  constructor(
    readonly args: readonly unknown[],
    readonly memo: Record<string, unknown> | undefined,
  ) {
    super('the run continues as new');
  }
}

function current(): Run {
  const run = runs.getStore();
  if (run === undefined) throw new Error('this is no code of a workflow');
  return run;
}

type Proxied = Record<string, (...args: unknown[]) => Promise<unknown>>;

export function proxyActivities(options: TaskOptions): Proxied {
  return proxy((name, args) => current().host.scheduleActivity(current(), name, args, options));
}

export function proxyLocalActivities(options: TaskOptions): Proxied {
  return proxy((name, args) => current().host.runLocally(current(), name, args, options));
}

function proxy(call: (name: string, args: unknown[]) => Promise<unknown>): Proxied {
  return new Proxy<Proxied>(
    {},
    {
      get:
        (_target, name) =>
        (...args: unknown[]) =>
          call(String(name), args),
    },
  );
}

export async function sleep(duration: Duration): Promise<void> {
  await current().host.timer(current(), msToNumber(duration)).fired;
}

/** Resolves when the condition holds (true), or when the time is over (false). */
export async function condition(holds: () => boolean, limit?: Duration): Promise<boolean> {
  const run = current();
  if (holds()) return true;
  const limitMs = limit === undefined ? undefined : msToNumber(limit);
  const timer = limitMs === undefined ? undefined : run.host.timer(run, limitMs);
  const held = new Promise<boolean>((resolve) => {
    const waiting = { holds, resolve: () => resolve(true) };
    run.conditions.add(waiting);
    void timer?.fired.then(() => {
      run.conditions.delete(waiting);
      resolve(false);
    });
  });
  const answer = await held;
  if (answer) timer?.cancel();
  return answer;
}

export function setHandler(
  definition: { readonly type: 'signal' | 'update'; readonly name: string },
  handler: (...args: never[]) => unknown,
): void {
  current().setHandler(definition.type, definition.name, handler);
}

export function defineSignal<Args extends unknown[] = []>(name: string): SignalDefinition<Args> {
  return { type: 'signal', name } as SignalDefinition<Args>;
}

export function defineUpdate<Result, Args extends unknown[] = []>(
  name: string,
): UpdateDefinition<Result, Args> {
  return { type: 'update', name } as UpdateDefinition<Result, Args>;
}

export function allHandlersFinished(): boolean {
  return current().handling === 0;
}

export function workflowInfo(): { historyLength: number; continueAsNewSuggested: boolean } {
  const { historyLength } = current();
  return { historyLength, continueAsNewSuggested: historyLength > 4_096 };
}

export function continueAsNew(...args: unknown[]): Promise<never> {
  return Promise.reject(new ContinuesAsNew(args, undefined));
}

export function makeContinueAsNewFunc(options: { memo?: Record<string, unknown> }) {
  return (...args: unknown[]): Promise<never> => Promise.reject(new ContinuesAsNew(args, options.memo));
}

/** Runs of the simulation are all of this release. */
export function patched(): boolean {
  return true;
}

export function deprecatePatch(): void {
  // No history here is replayed.
}

export function upsertSearchAttributes(pairs: readonly SearchAttributePair[]): void {
  const run = current();
  run.historyLength += 1;
  for (const { key, value } of pairs) run.attributes.set(key.name, value);
}

export function upsertMemo(memo: Record<string, unknown>): void {
  const run = current();
  run.historyLength += 1;
  Object.assign(run.memo, memo);
}

export function setCurrentDetails(): void {
  current();
}

export function isCancellation(error: unknown): boolean {
  return (
    error instanceof CancelledFailure ||
    (error instanceof ActivityFailure && error.cause instanceof CancelledFailure)
  );
}

export const CancellationScope = { current: () => ({ consideredCancelled: false }) };

export const log = {
  error: (message: string) => current().host.note(current(), message),
};
