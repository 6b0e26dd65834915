import { isPassing } from '@gpu-rental/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cli } from '../cli.js';

const pauseMs = 2_000;

/**
 * Does what may be done again, until the service was away for too long: a network that fails for a moment is no reason
 * to lose sight of what was bought.
 * @param toTell which failure is told in the end, of the one so far and the newest one; default: the newest one
 */
export async function overGaps<T>(
  cli: Cli,
  work: () => Promise<T>,
  toTell: (soFar: unknown, newest: unknown) => unknown = (_, newest) => newest,
): Promise<T> {
  const { signal, gapMs: within } = cli;
  const startedMs = Date.now();
  let told: unknown;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      told = toTell(told, error);
      if (!isPassing(error) || signal.aborted || Date.now() - startedMs >= within) throw told;
      cli.tellGap(error);
      await sleep(Math.min(pauseMs, within / 10), undefined, { signal }).catch(() => {
        throw told;
      });
    }
  }
}
