import { setTimeout as sleep } from 'node:timers/promises';
import type { PartName, Topology } from './topology.js';

/** Every part in turn, first as a deployment does it, then as a crash does. */
const plan: readonly (readonly [PartName, 'stop' | 'kill'])[] = [
  ['API 1', 'stop'],
  ['API 2', 'stop'],
  ['worker 1', 'stop'],
  ['worker 2', 'stop'],
  ['Temporal', 'stop'],
  ['API 1', 'kill'],
  ['worker 1', 'kill'],
  ['API 2', 'kill'],
  ['worker 2', 'kill'],
  ['Temporal', 'kill'],
];

const words = { stop: 'stopped in order', kill: 'killed (SIGKILL)' };
const pauseMs = 10_000;

/** Restarts one part after the other, each once the one before is ready again and has worked for a while. */
export async function restartAll(topology: Topology, log: (line: string) => void): Promise<number> {
  for (const [name, how] of plan) {
    const startedAt = Date.now();
    await topology.restart(name, how);
    log(
      `${name} was ${words[how]} and is ready again after ${((Date.now() - startedAt) / 1000).toFixed(1)} s`,
    );
    await sleep(pauseMs);
  }
  return plan.length;
}
