import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { nvidiaSmiScript } from './nvidia-smi.js';
import { findLabOffer, getLabGpu } from './offers.js';
import { makePodHome, podHomeOf, readAuthorizedKeys, removePodHome, type PodUser } from './pod-home.js';
import { createPodProcesses, type PodProcesses } from './pod-processes.js';
import { startPodSshServer, type PodSshServer } from './pod-ssh-server.js';
import { startSickDaemon } from './sick-daemon.js';
import { isOfDialect, type LabPod } from './state.js';

/** The login name that the lab advertises, as each upstream does. */
export function podUserNameOf(pod: LabPod): string {
  return isOfDialect(pod, 'runpod') ? 'root' : 'shadeform';
}

/** The time for which the daemon waits for the pod's script; a longer script continues in the background. */
const SCRIPT_HEAD_START_MS = 2_000;

/** A port that was ours may stay occupied for a moment after a restart. */
const PORT_TRIES = 10;
const PORT_RETRY_MS = 100;

/** A lab machine has no container runtime: a template's container is recorded and not run. */
const DOCKER = `#!/bin/sh
echo "docker $*" >> "$HOME/containers.log"
echo 'docker: a lab pod has no container runtime; the command was noted in ~/containers.log' >&2
exit 125
`;

/** A pod's machine: folders, processes and an SSH daemon. */
export interface RunningPod {
  /** Makes the machine and runs its script. Called once in a pod's life. */
  boot(): Promise<void>;
  /** Starts the daemon, on the pod's port if it has one, and returns the port. */
  listen(): Promise<number>;
  /** Stops the daemon and kills the processes; the files stay. */
  halt(): Promise<void>;
  /** Does `halt` and removes the files. */
  destroy(): Promise<void>;
}

/** The folders, user and address of pods. */
export interface PodPlace {
  readonly homesDir: string;
  readonly host: string;
  readonly user: PodUser | null;
}

export function createRunningPod(pod: LabPod, place: PodPlace): RunningPod {
  const paths = podHomeOf(place.homesDir, pod.id);
  const { id, envs } = pod;
  const userName = podUserNameOf(pod);
  const processes = createPodProcesses({ id, envs, paths, user: place.user, userName });
  let server: PodSshServer | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one step at a time: a pod that is ended during its boot ends after the boot's present step. */
  const inTurn = <T>(step: () => Promise<T>): Promise<T> => {
    const turn = last.then(step);
    last = turn.catch(() => undefined);
    return turn;
  };
  const stop = async (): Promise<void> => {
    const stopping = server;
    server = undefined;
    processes.killAll();
    await stopping?.close();
  };

  return {
    boot: () =>
      inTurn(async () => {
        // Only a boot that a restart cut short leaves processes to kill, and the search through all processes takes
        // time.
        if (existsSync(paths.root)) processes.killAll();
        await makePodHome(paths, place.user, {
          publicKey: pod.publicKey,
          userName,
          hostName: `lab-${pod.id.slice(0, 8)}`,
          programs: { 'nvidia-smi': nvidiaSmiOf(pod), docker: DOCKER },
        });
        if (pod.base64Script !== null) await runScript(processes, pod.base64Script);
      }),
    listen: () =>
      inTurn(async () => {
        const readKeys = (): Promise<string[]> => readAuthorizedKeys(paths);
        const { hostKey } = pod;
        const options = { host: place.host, hostKey, userName, processes, readKeys };
        server = await startOnPort(pod.port ?? 0, (port) =>
          pod.ssh === 'silent' || pod.ssh === 'refused'
            ? startSickDaemon(place.host, port, pod.ssh)
            : startPodSshServer({ ...options, port }),
        );
        return server.port;
      }),
    halt() {
      // At once, so that nothing waits for the pod's script.
      processes.killCommands();
      return inTurn(stop);
    },
    destroy() {
      processes.killCommands();
      return inTurn(async () => {
        await stop();
        await removePodHome(paths);
      });
    },
  };
}

async function runScript(processes: PodProcesses, base64Script: string): Promise<void> {
  const script = Buffer.from(base64Script, 'base64').toString('utf8');
  const child = processes.run({ line: `exec > "$HOME/init-script.log" 2>&1\n${script}`, terminal: null });
  child.stdin.end();
  child.stdout.resume();
  child.stderr.resume();
  const ended = new Promise<void>((resolve) => {
    child.on('error', () => resolve());
    child.on('close', () => resolve());
  });
  await Promise.race([ended, sleep(SCRIPT_HEAD_START_MS, undefined, { ref: false })]);
}

function nvidiaSmiOf(pod: LabPod): string {
  const offer = findLabOffer(pod.cloud, pod.type, pod.region);
  if (offer === undefined)
    throw new Error(`the lab no longer sells ${pod.cloud}/${pod.type} in ${pod.region}`);
  return nvidiaSmiScript(getLabGpu(offer), offer.gpuCount, pod.id);
}

async function startOnPort(
  port: number,
  start: (port: number) => Promise<PodSshServer>,
): Promise<PodSshServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(port);
    } catch (error) {
      const inUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (!inUse || attempt >= PORT_TRIES) throw error;
      await sleep(PORT_RETRY_MS);
    }
  }
}
