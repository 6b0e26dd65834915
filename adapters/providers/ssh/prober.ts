import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { machineLimits } from '../../../domain/machines/limits.js';
import { captureHostKey, probeSsh, type ProbeResult, type ProbeTarget } from './ssh-probe.js';

/** Asks SSH daemons, so many at once and no more (providers reference, section 5). */
export interface Prober {
  /** Whether the daemon answers. */
  probe(target: ProbeTarget): Promise<ProbeResult>;
  /** The fingerprint of its host key; undefined when none could be read. */
  hostKey(target: ProbeTarget): Promise<string | undefined>;
}

/**
 * One prober per worker process.
 * @param jitterMs each question waits up to so long before it is asked: what is read from one list at once would
 * else be asked at once
 */
export function createProber(jitterMs: number): Prober {
  const limit = pLimit(machineLimits.probesAtOnce);
  const inTurn = async <T>(ask: () => Promise<T>): Promise<T> => {
    await sleep(Math.random() * jitterMs);
    return limit(ask);
  };
  return {
    probe: (target) =>
      inTurn(() =>
        probeSsh({
          ...target,
          connectTimeoutMs: machineLimits.sshConnectMs,
          identTimeoutMs: machineLimits.sshIdentMs,
        }),
      ),
    hostKey: (target) => inTurn(() => captureHostKey({ ...target, timeoutMs: machineLimits.sshHostKeyMs })),
  };
}
