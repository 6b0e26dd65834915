import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Entry, Kernel } from './kernel.js';
import { currentScope, inThisContext } from './scope.js';

const require = createRequire(import.meta.url);

/** Node's own kind of timer, as callers use it. */
class Timer {
  entry: Entry | undefined;

  constructor(
    private readonly start: (timer: Timer) => void,
    private readonly kernel: Kernel,
  ) {
    start(this);
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  refresh(): this {
    this.close();
    this.start(this);
    return this;
  }

  close(): this {
    this.kernel.cancel(this.entry);
    this.entry = undefined;
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Replaces the clock and all timers of this process by those of the simulation. There is no way back. */
export function installTime(kernel: Kernel): void {
  const RealDate = Date;
  const now = (): number => kernel.nowMs + (currentScope().process?.aheadMs ?? 0);
  class SimulatedDate extends RealDate {
    constructor(...given: [] | [value: number | string | Date]) {
      super(...((given.length === 0 ? [now()] : given) as [number]));
    }

    static override now(): number {
      return now();
    }
  }
  const set = (work: (...args: unknown[]) => void, ms: number, args: unknown[]): Timer => {
    const bound = inThisContext(() => work(...args));
    return new Timer((timer) => {
      timer.entry = kernel.after(Math.max(1, Math.ceil(ms)), 'timer', bound);
    }, kernel);
  };
  const repeat = (work: (...args: unknown[]) => void, ms: number, args: unknown[]): Timer => {
    const scope = currentScope();
    // In the real service a loop beats with each of its rounds; here time jumps over both.
    const isWeak = scope.loop !== undefined || scope.process === undefined;
    const again = (timer: Timer): void => {
      timer.entry = kernel.after(
        ms,
        isWeak ? '' : 'beat',
        () => {
          again(timer);
          if (scope.loop?.isResting !== true) bound();
        },
        { scope, isWeak },
      );
    };
    const bound = inThisContext(() => work(...args));
    return new Timer(again, kernel);
  };
  const clear = (timer: unknown): void => {
    if (timer instanceof Timer) timer.close();
  };
  const timers = {
    setTimeout: (work: () => void, ms = 1, ...args: unknown[]) => set(work, ms, args),
    clearTimeout: clear,
    setInterval: (work: () => void, ms = 1, ...args: unknown[]) => repeat(work, ms, args),
    clearInterval: clear,
  };
  Object.assign(globalThis, timers, { Date: SimulatedDate });
  Object.assign(require('node:timers') as object, timers);
  (require('node:timers/promises') as { setTimeout: unknown }).setTimeout = sleepWith(set);
  Object.defineProperty(globalThis.performance, 'now', {
    value: () => kernel.nowMs - kernel.startMs + 1_000,
  });
  syncBuiltinESMExports();
}

function sleepWith(set: (work: () => void, ms: number, args: unknown[]) => Timer) {
  return <T>(ms = 1, value?: T, options: { signal?: AbortSignal } = {}): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      const { signal } = options;
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const timer = set(() => resolve(value), ms, []);
      signal?.addEventListener('abort', () => {
        timer.close();
        reject(signal.reason as Error);
      });
    });
}
