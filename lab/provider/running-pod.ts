import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePorts } from '../stack/ports.js';
import { NOTEBOOK_PORT, notebookOf, notebookProgram } from './notebook.js';
import { nvidiaSmiScript } from './nvidia-smi.js';
import { habitOf, isOutOfReach, noShell, programsOfImage, replacedEntrypointOf } from './images.js';
import { findLabOffer, getLabGpu } from './offers.js';
import {
  makePodHome,
  podHomeOf,
  readAuthorizedKeys,
  removePodHome,
  type PodHome,
  type PodUser,
} from './pod-home.js';
import { createPodProcesses, POD_VARIABLE, type PodProcesses } from './pod-processes.js';
import { startPodSshServer, type PodSshServer } from './pod-ssh-server.js';
import { openForwards, type PortForward, type PortForwards } from './port-forwards.js';
import { startSickDaemon } from './sick-daemon.js';
import { shellWords } from '../../domain/rentals/start-command.js';
import type { LabDialect, LabPod } from './state.js';

/** The login name that the lab advertises, as each upstream does. */
export function podUserNameOf(pod: LabPod): string {
  return USER_NAMES[pod.dialect ?? 'shadeform'];
}

const USER_NAMES: Readonly<Record<LabDialect, string>> = {
  shadeform: 'shadeform',
  runpod: 'root',
  vast: 'root',
  lambda: 'ubuntu',
};

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

/** The lab's machines have no firewall: what it was told is noted. */
const UFW = `#!/bin/sh
echo "ufw $*" >> "$HOME/firewall.log"
`;
const SUDO = '#!/bin/sh\nexec "$@"\n';

/** Writes to the terminals of its own machine alone: those of this one are the people's who run the lab. */
const WALL = `#!/bin/sh
text=$(cat)
for pid in $(grep -lsz "^${POD_VARIABLE}=$${POD_VARIABLE}$" /proc/[0-9]*/environ | cut -d / -f 3); do
  readlink /proc/$pid/fd/0
done 2> /dev/null | grep ^/dev/pts/ | sort -u | while read -r terminal; do
  printf '\\r\\n%s\\r\\n' "$text" > "$terminal"
done
`;

/** Where a machine listens. */
export interface Listening {
  /** Of its SSH daemon; null where it has none. */
  readonly port: number | null;
  readonly forwards: readonly PortForward[];
}

/** A pod's machine: folders, processes and an SSH daemon. */
export interface RunningPod {
  /** Makes the machine and runs its script. Called once in a pod's life. */
  boot(): Promise<void>;
  /** Prepares a machine that starts again: a pod of RunPod has a new disk, and Vast runs the script once more. */
  bootAgain(): Promise<void>;
  /** Starts the daemon, on the pod's port if it has one, and what the image runs; opens the ports. */
  listen(): Promise<Listening>;
  /** Where a port of its own loopback is: all machines are this one, so each has other numbers. */
  portInside(port: number): number;
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
  const isBare = habitOf(pod.os).programs !== undefined;
  const processes = createPodProcesses({ id, envs, paths, user: place.user, userName, isBare });
  let server: PodSshServer | undefined;
  let opened: PortForwards | undefined;
  const notebook = createNotebook(pod, processes, place.host);
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one step at a time: a pod that is ended during its boot ends after the boot's present step. */
  const inTurn = <T>(step: () => Promise<T>): Promise<T> => {
    const turn = last.then(step);
    last = turn.catch(() => undefined);
    return turn;
  };
  const stop = async (): Promise<void> => {
    const stopping = [server, opened];
    server = undefined;
    opened = undefined;
    processes.killAll();
    for (const part of stopping) await part?.close();
  };

  const { makeHome, runOwnScript } = createDisk(pod, { ...place, paths }, processes);

  return {
    boot: () =>
      inTurn(async () => {
        // Only a boot that a restart cut short leaves processes to kill, and the search through all processes takes
        // time.
        if (existsSync(paths.root)) processes.killAll();
        await makeHome();
        await runOwnScript();
      }),
    bootAgain: () =>
      inTurn(async () => {
        if (pod.dialect === 'runpod') await makeHome();
        if (pod.dialect === 'vast') await runOwnScript();
      }),
    listen: () =>
      inTurn(async () => {
        if (isOutOfReach(pod)) throw new Error('the image can’t be pulled without credentials');
        const container = containerOf(pod);
        if (container.hasSsh) {
          const readKeys = (): Promise<string[]> => readAuthorizedKeys(paths);
          const { hostKey } = pod;
          const { portInside } = notebook;
          const options = { host: place.host, hostKey, userName, processes, readKeys, portInside };
          const sick = container.ssh;
          server = await startOnPort(pod.port ?? 0, (port) =>
            sick === 'silent' || sick === 'refused'
              ? startSickDaemon(place.host, port, sick)
              : startPodSshServer({ ...options, port }),
          );
        }
        if (container.command !== null) runInBackground(processes, container.command);
        await notebook.start();
        opened = await openForwards(place.host, container.tcpPorts);
        return { port: server?.port ?? null, forwards: opened.forwards };
      }),
    portInside: notebook.portInside,
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

/** The files of a machine, and the script that its upstream runs on it. */
function createDisk(
  pod: LabPod,
  { paths, user }: { readonly paths: PodHome; readonly user: PodUser | null },
  processes: PodProcesses,
) {
  return {
    makeHome: (): Promise<void> =>
      makePodHome(paths, user, {
        publicKey: pod.publicKey,
        userName: podUserNameOf(pod),
        hostName: `lab-${pod.id.slice(0, 8)}`,
        programs: { ...programsOfImage(habitOf(pod.os)), ...programsOf(pod) },
      }),
    runOwnScript: async (): Promise<void> => {
      if (pod.base64Script !== null) await runScript(processes, pod.base64Script);
    },
  };
}

function programsOf(pod: LabPod): Record<string, string> {
  return {
    ...{ 'nvidia-smi': nvidiaSmiOf(pod), docker: DOCKER, ufw: UFW, sudo: SUDO, wall: WALL },
    'lab-notebook': notebookProgram,
  };
}

/** How a machine starts: a container as its image does, any other with its daemon alone. */
function containerOf(pod: LabPod): {
  readonly hasSsh: boolean;
  readonly ssh: LabPod['ssh'];
  readonly command: string | null;
  readonly tcpPorts: readonly number[];
} {
  const { ports, os, args = '' } = pod;
  if (ports === undefined) return { hasSsh: true, ssh: pod.ssh, command: null, tcpPorts: [] };
  const habit = habitOf(os);
  const entrypoint = replacedEntrypointOf(args);
  const tcp = ports.flatMap((text) => /^(\d+)\/tcp$/.exec(text)?.[1] ?? []).map(Number);
  return {
    hasSsh: tcp.includes(22),
    // The port is open, and nobody answers.
    ssh: habit.hasSshd && entrypoint === undefined ? pod.ssh : 'refused',
    command: entrypoint ? commandOf(entrypoint, habit.hasSh) : habit.runsArgs && args !== '' ? args : null,
    tcpPorts: tcp.filter((port) => port !== 22),
  };
}

/** What runs in the place of an image's entrypoint, with what it says in a file: RunPod shows that as the pod's log. */
function commandOf(words: readonly string[], hasSh: boolean): string {
  const command = words[0] === 'sh' && !hasSh ? shellWords(['echo', noShell]) : shellWords(words);
  return `exec >> "$HOME/container.log" 2>&1\n${command}`;
}

function runInBackground(processes: PodProcesses, line: string): ReturnType<PodProcesses['run']> {
  const child = processes.run({ line, terminal: null });
  child.stdin.end();
  child.stdout.resume();
  child.stderr.resume();
  child.on('error', () => undefined);
  return child;
}

/** The notebook of a machine, if it has one. */
function createNotebook(pod: LabPod, processes: PodProcesses, host: string) {
  let at = NOTEBOOK_PORT;
  return {
    portInside: (port: number): number => (port === NOTEBOOK_PORT ? at : port),
    async start(): Promise<void> {
      const notebook = notebookOf(pod);
      if (notebook === undefined) return;
      const { token, isPublic } = notebook;
      const [free = NOTEBOOK_PORT] = await findFreePorts(1);
      if (!isPublic) at = free;
      runInBackground(processes, `JUPYTER_TOKEN=${token} exec lab-notebook ${host} ${at}`);
    },
  };
}

async function runScript(processes: PodProcesses, base64Script: string): Promise<void> {
  const script = Buffer.from(base64Script, 'base64').toString('utf8');
  const child = runInBackground(processes, `exec > "$HOME/init-script.log" 2>&1\n${script}`);
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
  return nvidiaSmiScript(getLabGpu(offer), offer.gpuCount, pod.id, pod.gpuFault);
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
