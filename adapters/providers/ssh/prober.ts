import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { machineLimits } from '../../../domain/machines/limits.js';
import { answersAt, type OpenPort } from './port-probe.js';
import { captureHostKey, probeSsh, type ProbeResult, type ProbeTarget } from './ssh-probe.js';

/** Probes SSH daemons, a limited number at once (providers reference, section 5). */
export interface Prober {
  /** Tells whether the daemon answers. */
  probe(target: ProbeTarget): Promise<ProbeResult>;
  /** Reads the fingerprint of its host key; undefined when none could be read. */
  hostKey(target: ProbeTarget): Promise<string | undefined>;
  /** Tells whether somebody answers at an open port: by HTTP at a URL of the upstream's proxy, else by a connection. */
  answers(port: OpenPort, allowPrivate: boolean): Promise<boolean>;
}

/**
 * Makes the one prober of a worker process.
 * @param jitterMs the most that each probe waits before it starts, so that the pods of one list are not all probed at
 *   once
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
    answers: (port, allowPrivate) => inTurn(() => answersAt(port, allowPrivate)),
    hostKey: (target) => inTurn(() => captureHostKey({ ...target, timeoutMs: machineLimits.sshHostKeyMs })),
  };
}
