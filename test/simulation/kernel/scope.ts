import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { Loop } from './loop.js';

/** A simulated process of the service: what it began ends with it, at whatever await it stands. */
export class SimProcess {
  isAlive = true;
  /** How far its clock is ahead of everybody else's, in milliseconds. */
  aheadMs = 0;
  /** Until when it stands still, in milliseconds since 1970: whatever it would do comes later. */
  frozenUntilMs = 0;

  /** @param name shown in the trace, such as worker-2 */
  constructor(
    readonly name: string,
    readonly kind: 'api' | 'worker',
  ) {}
}

/** Who runs the present code: it holds across awaits. */
export interface Scope {
  /** Absent for the world outside, which never crashes. */
  readonly process?: SimProcess;
  /** Present in an activity that polls for ever, whose quiet rounds are skipped. */
  readonly loop?: Loop;
  /** The activity or the request that it does, such as openRental or POST /v1/rentals. */
  readonly duty?: string;
}

const scopes = new AsyncLocalStorage<Scope>();

/** Returns the scope of the present code. */
export function currentScope(): Scope {
  return scopes.getStore() ?? {};
}

/** Runs work within a scope. */
export function within<T>(scope: Scope, work: () => T): T {
  return scopes.run(scope, work);
}

/** Returns work that will run in the context of the present code. Node's own `bind` costs several times as much. */
export function inThisContext<Args extends unknown[]>(
  work: (...args: Args) => void,
): (...args: Args) => void {
  const here = new AsyncResource('simulated');
  return (...args) => here.runInAsyncScope(work, undefined, ...args);
}
