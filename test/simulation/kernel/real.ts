/** The process's own time, kept before the simulation replaces it: the kernel alone waits by it. */
export const real = {
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  now: globalThis.performance.now.bind(globalThis.performance),
};

/** Resolves in the event loop's next turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void real.setImmediate(resolve));
}

/** Resolves after some real milliseconds. */
export function realSleep(ms: number): Promise<void> {
  return new Promise((resolve) => void real.setTimeout(resolve, ms));
}
