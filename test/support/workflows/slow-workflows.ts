import { condition, defineSignal, setHandler } from '@temporalio/workflow';

/** Workflows that are hard on their worker. They are bundled by a path, for tests of the worker alone. */

/** Keeps its thread busy with promises within one task, as thousands of signals do. */
export async function keepsBusy(promises: number): Promise<void> {
  for (let made = 0; made < promises; made += 1) await Promise.resolve();
}

/** Waits for a signal that nobody sends. */
export async function waitsForEver(): Promise<void> {
  setHandler(defineSignal('look'), () => undefined);
  await condition(() => false);
}

/** Takes one short task. */
export function answersAtOnce(): Promise<string> {
  return Promise.resolve('answered');
}
