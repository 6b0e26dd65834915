import { setTimeout as sleep } from 'node:timers/promises';
import {
  inStopOrder,
  millisecondsOf,
  servicesOf,
  type ComposeFile,
  type HealthCheck,
  type WaitCondition,
} from './compose-file.js';
import type { Engine, Outcome, Stopped } from './engine.js';
import { containerArgs, openPodman, type Podman } from './podman.js';

export interface PodmanEngineOptions {
  readonly file: ComposeFile;
  readonly projectDir: string;
  /** The folder of the run; it holds the images already. */
  readonly folder: string;
  readonly hostAddress: string;
  readonly profiles: readonly string[];
  readonly limitMemory: boolean;
  readonly cgroupParent: string;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

const lookEveryMs = 500;
const runLimitMs = 180_000;

/** Runs a compose file by podman: does what docker compose does, as far as this project's file needs it. */
export function createPodmanEngine(options: PodmanEngineOptions): Engine {
  const { file, profiles, hostAddress, log } = options;
  const podman = openPodman(options.folder);
  const names = servicesOf(file, profiles);
  const starts = new Map<string, Promise<void>>();
  const argsOf = (name: string, service = name): string[] => {
    const { projectDir, limitMemory, cgroupParent } = options;
    return containerArgs({ name, service: serviceOf(file, service), projectDir, limitMemory, cgroupParent });
  };

  async function start(name: string): Promise<void> {
    const waits = Object.entries(serviceOf(file, name).depends_on ?? {});
    await Promise.all(waits.map(([other, { condition }]) => reach(other, condition)));
    options.signal.throwIfAborted();
    await podman.must(['run', '--detach', ...argsOf(name), ...(serviceOf(file, name).command ?? [])]);
  }
  const startOnce = (name: string): Promise<void> => {
    const begun = starts.get(name) ?? start(name);
    starts.set(name, begun);
    return begun;
  };
  async function reach(name: string, condition: WaitCondition): Promise<void> {
    await startOnce(name);
    if (condition === 'service_completed_successfully') await awaitEnd(podman, name);
    if (condition === 'service_healthy') await awaitHealth(podman, name, file, options.signal);
  }

  return {
    name: 'podman',
    hostAddress,
    profiles,
    async up() {
      await makeNetworksAndVolumes(podman, file);
      await Promise.all(
        names.map(async (name) => {
          const runsOnce = isAwaitedToEnd(file, name);
          await reach(name, runsOnce ? 'service_completed_successfully' : 'service_healthy');
          log(`${name} ${runsOnce ? 'has done its work' : 'is well'}`);
        }),
      );
    },
    exec: (service, command) => podman.run(['exec', service, ...command]),
    runOnce: (service, args) =>
      podman.run(
        [
          'run',
          '--rm',
          ...argsOf(`${service}-once`, service),
          ...(args.length > 0 ? args : (serviceOf(file, service).command ?? [])),
        ],
        runLimitMs,
      ),
    stop: () =>
      stopAll(
        podman,
        inStopOrder(file, names).filter((name) => !isAwaitedToEnd(file, name)),
      ),
    async logsOf(service) {
      const { stdout, stderr } = await podman.run(['logs', '--tail', '40', service]);
      return `${stdout}${stderr}`;
    },
    async remove() {
      await podman.run(['rm', '--force', '--all', '--time', '0']);
      await podman.run(['network', 'prune', '--force']);
    },
  };
}

async function makeNetworksAndVolumes(podman: Podman, file: ComposeFile): Promise<void> {
  for (const [network, given] of Object.entries(file.networks)) {
    await podman.must(['network', 'create', ...(given?.internal === true ? ['--internal'] : []), network]);
  }
  for (const volume of Object.keys(file.volumes)) await podman.must(['volume', 'create', volume]);
}

async function stopAll(podman: Podman, names: readonly string[]): Promise<Stopped[]> {
  const stopped: Stopped[] = [];
  for (const name of names) {
    await podman.must(['stop', name]);
    const code = await podman.must(['inspect', '--format', '{{.State.ExitCode}}', name]);
    stopped.push({ service: name, code: Number(code) });
  }
  return stopped;
}

function serviceOf(file: ComposeFile, name: string): ComposeFile['services'][string] {
  const service = file.services[name];
  if (service === undefined) throw new Error(`There is no service ${name}.`);
  return service;
}

/** Tells whether other services wait for the end of this one. */
function isAwaitedToEnd(file: ComposeFile, name: string): boolean {
  return Object.values(file.services).some(
    ({ depends_on: waits }) => waits?.[name]?.condition === 'service_completed_successfully',
  );
}

async function awaitEnd(podman: Podman, name: string): Promise<void> {
  const { code, stdout } = await podman.run(['wait', name], runLimitMs);
  if (code === 0 && stdout.trim() === '0') return;
  const what = code === 0 ? `ended with ${stdout.trim()}` : `has not ended after ${runLimitMs / 1000} s`;
  throw new Error(`${name} ${what}:\n${await lastLines(podman, name)}`);
}

/** Runs the check as the container engine does, only more often. */
async function awaitHealth(
  podman: Podman,
  name: string,
  file: ComposeFile,
  signal: AbortSignal,
): Promise<void> {
  const check = serviceOf(file, name).healthcheck;
  if (check === undefined) throw new Error(`${name} has no health check to wait for.`);
  const deadline = performance.now() + patienceMs(check);
  for (;;) {
    signal.throwIfAborted();
    const outcome = await podman.run(
      ['exec', name, ...commandOf(check)],
      millisecondsOf(check.timeout ?? '30s'),
    );
    if (outcome.code === 0) return;
    const state = await podman.must(['inspect', '--format', '{{.State.Status}}', name]);
    if (state !== 'running') throw new Error(`${name} is ${state}:\n${await lastLines(podman, name)}`);
    if (performance.now() > deadline) {
      throw new Error(`${name} is not well (${said(outcome)}):\n${await lastLines(podman, name)}`);
    }
    await sleep(lookEveryMs);
  }
}

function commandOf({ test: [kind, ...command] }: HealthCheck): readonly string[] {
  return kind === 'CMD-SHELL' ? ['/bin/sh', '-c', command.join(' ')] : command;
}

function patienceMs({
  start_period: start = '0s',
  interval = '30s',
  timeout = '30s',
  retries = 3,
}: HealthCheck): number {
  return millisecondsOf(start) + retries * (millisecondsOf(interval) + millisecondsOf(timeout));
}

function said({ code, stdout, stderr }: Outcome): string {
  return `its check ended with ${code}: ${`${stdout}${stderr}`.trim().slice(-500)}`;
}

async function lastLines(podman: Podman, name: string): Promise<string> {
  const { stdout, stderr } = await podman.run(['logs', '--tail', '30', name]);
  return `${stdout}${stderr}`.trimEnd().replaceAll(/^/gm, '  | ');
}
