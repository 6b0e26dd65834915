import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { PodHome, PodUser } from './pod-home.js';

/** Names the pod in the environment of each of its processes, so that they can be found again. */
export const POD_VARIABLE = 'LAB_POD_ID';

/** bash if it exists: people expect it on a rented machine. */
const SHELL = ['/bin/bash', '/usr/bin/bash', '/bin/sh'].find((path) => existsSync(path)) ?? '/bin/sh';

/** util-linux's `script` makes the terminal; others of that name take other arguments. */
const scriptVersion: { readonly stdout: string | null } = spawnSync('script', ['--version'], {
  encoding: 'utf8',
});
const HAS_SCRIPT = scriptVersion.stdout?.includes('util-linux') ?? false;

/** The number of searches for a pod's processes at its end. */
const MAX_LOOKS = 5;

export interface Terminal {
  readonly term: string;
  readonly rows: number;
  readonly cols: number;
}

export interface PodProcesses {
  /**
   * Starts a command, or an interactive shell without one, in the pod's home as the pod's user.
   * @param command.terminal asks for a terminal of its own
   */
  run(command: { line: string | null; terminal: Terminal | null }): ChildProcessWithoutNullStreams;
  /** Kills the commands that run, with their process groups. */
  killCommands(): void;
  /** Kills everything that the pod started, in any session or process group. */
  killAll(): void;
}

/** The processes of one pod. Nothing of the lab's own environment reaches them. */
export function createPodProcesses(pod: {
  readonly id: string;
  readonly paths: PodHome;
  readonly user: PodUser | null;
  readonly userName: string;
  readonly envs: readonly { readonly name: string; readonly value: string }[];
  /** Whether it has its own programs alone, and none of the lab's machine. */
  readonly isBare?: boolean;
}): PodProcesses {
  const children = new Set<ChildProcessWithoutNullStreams>();
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(pod.envs.map(({ name, value }) => [name, value])),
    PATH: pod.isBare === true ? pod.paths.bin : `${pod.paths.bin}:/usr/local/bin:/usr/bin:/bin`,
    HOME: pod.paths.home,
    USER: pod.userName,
    LOGNAME: pod.userName,
    SHELL,
    LANG: 'C.UTF-8',
    [POD_VARIABLE]: pod.id,
  };

  // The lab may have restarted, so earlier processes are unknown.
  let mayRun = true;
  const killCommands = (): void => {
    for (const child of children) killGroup(child.pid);
  };

  return {
    run({ line, terminal }) {
      mayRun = true;
      const [file, ...args] = commandOf(line, terminal);
      const child = spawn(file, args, {
        cwd: pod.paths.home,
        env: { ...env, ...(terminal === null ? {} : { TERM: terminal.term }) },
        // A group of its own, so that it can be ended as a whole.
        detached: true,
        ...(pod.user ?? {}),
      });
      children.add(child);
      child.once('close', () => children.delete(child));
      // A pipe that the command has closed is not a fault of the lab.
      child.stdin.on('error', () => undefined);
      return child;
    },
    killCommands,
    killAll() {
      killCommands();
      // The next look finds processes that fork during this one.
      for (let look = 0; look < MAX_LOOKS && mayRun; look += 1) {
        const pids = listPidsOfPod(pod.id);
        for (const pid of pids) kill(pid);
        mayRun = pids.length > 0;
      }
    },
  };
}

/** Ends a started command with everything in its process group. */
export function killGroup(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (pid !== undefined) kill(-pid, signal);
}

function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // The process is gone already, as wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function commandOf(line: string | null, terminal: Terminal | null): [string, ...string[]] {
  if (terminal === null || !HAS_SCRIPT) return line === null ? [SHELL, '-s'] : [SHELL, '-c', line];
  const size = `stty rows ${terminal.rows} cols ${terminal.cols} 2>/dev/null`;
  const inside = line === null ? `${size}; exec ${SHELL} -i` : `${size}; ${line}`;
  return ['script', '-qfec', inside, '/dev/null'];
}

/**
 * Lists the pids whose environment names this pod. A terminal's shell and background processes have left the process
 * group, and the lab may have restarted since. Works only where /proc exists.
 */
function listPidsOfPod(podId: string): number[] {
  const marker = `${POD_VARIABLE}=${podId}`;
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && environOf(pid).split('\0').includes(marker));
}

function environOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // The process ended meanwhile, or belongs to another user: it is not ours.
    return '';
  }
}
