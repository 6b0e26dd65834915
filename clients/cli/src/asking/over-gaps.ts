import { isPassing } from '@gpu-rental/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cli } from '../cli.js';

const pauseMs = 2_000;

/**
 * Does what may be done again, until the service was away for too long: a network that fails for a moment is no reason
 * to lose sight of what was bought.
 */
export async function overGaps<T>(cli: Cli, work: () => Promise<T>): Promise<T> {
  const { signal, gapMs: within } = cli;
  const startedMs = Date.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || signal.aborted || Date.now() - startedMs >= within) throw error;
      cli.tellGap(error);
      await sleep(Math.min(pauseMs, within / 10), undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}
