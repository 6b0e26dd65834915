import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { PodHome, PodUser } from './pod-home.js';

/** Names the pod in the environment of each of its processes, by which they are found again. */
const POD_VARIABLE = 'LAB_POD_ID';

/** bash where there is one: it is what people expect of a rented machine. */
const SHELL = ['/bin/bash', '/usr/bin/bash', '/bin/sh'].find((path) => existsSync(path)) ?? '/bin/sh';

/** util-linux's `script` makes the terminal; others of that name take other arguments. */
const scriptVersion: { readonly stdout: string | null } = spawnSync('script', ['--version'], {
  encoding: 'utf8',
});
const HAS_SCRIPT = scriptVersion.stdout?.includes('util-linux') ?? false;

/** How often a pod's processes are looked for when it ends. */
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
  /** Kills everything that the pod started, in whatever session or process group it hides. */
  killAll(): void;
}

/** The processes of one pod. Nothing of the lab's own environment reaches them. */
export function createPodProcesses(pod: {
  readonly id: string;
  readonly paths: PodHome;
  readonly user: PodUser | null;
  readonly userName: string;
  readonly envs: readonly { readonly name: string; readonly value: string }[];
}): PodProcesses {
  const children = new Set<ChildProcessWithoutNullStreams>();
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(pod.envs.map(({ name, value }) => [name, value])),
    PATH: `${pod.paths.bin}:/usr/local/bin:/usr/bin:/bin`,
    HOME: pod.paths.home,
    USER: pod.userName,
    LOGNAME: pod.userName,
    SHELL,
    LANG: 'C.UTF-8',
    [POD_VARIABLE]: pod.id,
  };

  // The lab may have been restarted: what ran before is not known.
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
        // A group of its own, so that it can be ended whole.
        detached: true,
        ...(pod.user ?? {}),
      });
      children.add(child);
      child.once('close', () => children.delete(child));
      // A pipe that the command has closed is no fault of the lab.
      child.stdin.on('error', () => undefined);
      return child;
    },
    killCommands,
    killAll() {
      killCommands();
      // What forks while it is looked for is found by the next look.
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
    // It is gone already, which is what was wanted.
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
 * The pids whose environment names this pod. A terminal's shell and whatever was put in the background have left
 * the process group, and the lab may have been restarted since. Only where there is a /proc.
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
    // Ended in between, or another user's: not ours.
    return '';
  }
}
