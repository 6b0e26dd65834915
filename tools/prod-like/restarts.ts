import { setTimeout as sleep } from 'node:timers/promises';
import type { How, PartName, Topology } from './topology.js';

type Restart = readonly [PartName, How] | readonly ['schema', 'upgrade'];

/** Every part in turn, first with an orderly stop as in a deployment, then with a kill as in a crash. */
const all: readonly Restart[] = [
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
  ['primary', 'kill'],
];

/** From an earlier release to this one, one process at a time, in the order of docs/operations/deploying.md. */
export const upgrades: readonly Restart[] = [
  ['schema', 'upgrade'],
  ['worker 1', 'upgrade'],
  ['worker 2', 'upgrade'],
  ['API 1', 'upgrade'],
  ['API 2', 'upgrade'],
];

const words = { stop: 'stopped in order', kill: 'killed (SIGKILL)', upgrade: 'upgraded' };
const pauseMs = 10_000;

/**
 * Reads which parts are restarted, and how: `worker 1:kill,API 1:stop`.
 * @param text undefined means all of them
 * @throws Error that names the possible values
 */
export function readRestarts(text: string | undefined): readonly Restart[] {
  // Twice, so that a server which was the primary before is one again.
  if (text === undefined) return [...all, ...all];
  return text.split(',').map((wanted) => {
    const found = all.find(([name, how]) => `${name}:${how}` === wanted);
    if (found) return found;
    const known = all.map(([name, how]) => `${name}:${how}`).join(', ');
    throw new Error(`PROD_LIKE_RESTARTS names "${wanted}"; it can name ${known}.`);
  });
}

/**
 * Restarts one part after the other. Before each it waits until the last one is ready and has worked for a while.
 * @returns when primaries were killed, by performance.now()
 */
export async function restartAll(
  topology: Topology,
  restarts: readonly Restart[],
  log: (line: string) => void,
): Promise<readonly number[]> {
  const killedAt: (number | undefined)[] = [];
  for (const [name, how] of restarts) {
    const startedAt = performance.now();
    if (name === 'schema') await topology.migrate();
    else killedAt.push(await topology.restart(name, how));
    log(
      `${name} was ${words[how]} and is ready again after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
    );
    await sleep(pauseMs);
  }
  return killedAt.filter((at) => at !== undefined);
}
