import { setTimeout as sleep } from 'node:timers/promises';
import type { Probe } from './probe.js';
import type { How, PartName, Topology } from './topology.js';

type Restart = readonly [PartName, How] | readonly ['schema', 'upgrade'];

/** Every part in turn, first with an orderly stop as in a deployment, then with a kill as in a crash. */
const all: readonly Restart[] = [
  ['API 1', 'stop'],
  ['API 2', 'stop'],
  ['worker 1', 'stop'],
  ['worker 2', 'stop'],
  ['listener', 'stop'],
  ['Temporal', 'stop'],
  ['API 1', 'kill'],
  ['worker 1', 'kill'],
  ['API 2', 'kill'],
  ['worker 2', 'kill'],
  ['listener', 'kill'],
  ['Temporal', 'kill'],
  ['primary', 'kill'],
];

/** From an earlier release to this one, one process at a time, in the order of docs/operations/deploying.md. */
const upgrades: readonly Restart[] = [
  ['schema', 'upgrade'],
  ['worker 1', 'upgrade'],
  ['worker 2', 'upgrade'],
  ['API 1', 'upgrade'],
  ['API 2', 'upgrade'],
];

const words = { stop: 'stopped in order', kill: 'killed (SIGKILL)', upgrade: 'upgraded' };
/** For so long changes are acknowledged before the primary is killed. */
const acknowledgedMs = 2_000;

/** One run of the whole topology. */
export interface Play {
  readonly restarts: readonly Restart[];
  /** The commit whose processes begin, until they are upgraded to these; undefined: these begin. */
  readonly from: string | undefined;
}

/**
 * Reads what is played: restarts of this release, upgrades to it, or both.
 * @param restarts which parts are restarted, and how: `worker 1:kill,API 1:stop`; undefined means all of them, and none where
 * commits are named
 * @param from commits of which each is upgraded: `914a6ef0,7d8c1777`
 * @throws Error that names the possible values
 */
export function readPlays(restarts: string | undefined, from: string | undefined): readonly Play[] {
  const commits = from === undefined ? [] : from.split(',');
  return [
    ...(commits.length > 0 && restarts === undefined
      ? []
      : [{ restarts: readRestarts(restarts), from: undefined }]),
    ...commits.map((commit) => ({ restarts: upgrades, from: commit })),
  ];
}

function readRestarts(text: string | undefined): readonly Restart[] {
  // Twice, so that a server which was the primary before is one again.
  if (text === undefined) return [...all, ...all];
  return text.split(',').map((wanted) => {
    const found = all.find(([name, how]) => `${name}:${how}` === wanted);
    if (found) return found;
    const known = all.map(([name, how]) => `${name}:${how}`).join(', ');
    throw new Error(`PROD_LIKE_RESTARTS names "${wanted}"; it can name ${known}.`);
  });
}

export interface Restarting {
  readonly log: (line: string) => void;
  /** How long each part works before the next one is restarted. */
  readonly pauseMs: number;
  /** Sends changes until it is stopped. */
  readonly probe: () => Probe;
}

/**
 * Restarts one part after the other. Before each it waits until the last one is ready and has worked for a while.
 * @returns when primaries were killed, by performance.now()
 */
export async function restartAll(
  topology: Topology,
  restarts: readonly Restart[],
  { log, pauseMs, probe }: Restarting,
): Promise<readonly number[]> {
  const killedAt: (number | undefined)[] = [];
  for (const [name, how] of restarts) {
    const startedAt = performance.now();
    if (name === 'schema') await topology.migrate();
    else if (name === 'primary') killedAt.push(await killPrimary(topology, probe));
    else await topology.restart(name, how);
    log(
      `${name} was ${words[how]} and is ready again after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
    );
    await sleep(pauseMs);
  }
  return killedAt.filter((at) => at !== undefined);
}

/** Changes are under way when it dies, and are tried until it is replaced. */
async function killPrimary(topology: Topology, probe: () => Probe): Promise<number | undefined> {
  const probing = probe();
  await sleep(acknowledgedMs);
  try {
    return await topology.restart('primary', 'kill');
  } finally {
    await probing.stop();
  }
}
