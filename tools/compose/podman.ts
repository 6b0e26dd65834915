import { execFile, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Service } from './compose-file.js';
import { millisecondsOf } from './compose-file.js';
import type { Outcome } from './engine.js';

/** Podman with everything of a run below one folder: images, containers, networks, volumes. */
export interface Podman {
  run(args: readonly string[], limitMs?: number): Promise<Outcome>;
  /** @throws Error with its last lines unless it ends with 0 */
  must(args: readonly string[], limitMs?: number): Promise<string>;
}

const commandLimitMs = 120_000;

/** Opens podman on its own store below the folder, without this machine's settings. */
export function openPodman(folder: string): Podman {
  const config = join(folder, 'containers.conf');
  mkdirSync(join(folder, 'networks'), { recursive: true });
  writeFileSync(config, settings(folder));
  const common = [...storeArgs(folder), '--tmpdir', join(folder, 'tmp')];
  const run = (args: readonly string[], limitMs = commandLimitMs): Promise<Outcome> =>
    runProgram('podman', [...common, ...args], limitMs, { CONTAINERS_CONF: config });
  return {
    run,
    async must(args, limitMs) {
      const outcome = await run(args, limitMs);
      if (outcome.code === 0) return outcome.stdout.trim();
      throw new Error(
        `podman ${args.slice(0, 2).join(' ')} ended with ${outcome.code}: ${outcome.stderr.trim()}`,
      );
    },
  };
}

/** The arguments that name a run's image store, for podman and for buildah. */
export function storeArgs(folder: string): string[] {
  return ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'overlay'];
}

/** The programs that run now. */
const running = new Set<ChildProcess>();

/** Ends what runs now, for a run that was given up: a build or a wait may take minutes. Later programs clean up. None is
 * killed outright: a package manager would leave half a package. */
export function endPrograms(): void {
  for (const child of running) child.kill('SIGTERM');
}

/** Runs a program to its end. Never rejects: a program that could not be started has the code 127. */
export function runProgram(
  command: string,
  args: readonly string[],
  limitMs: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  return new Promise((done) => {
    const child = execFile(
      '/usr/bin/env',
      [...Object.entries(env).map(([name, value]) => `${name}=${value}`), command, ...args],
      { encoding: 'utf8', timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 124;
        running.delete(child);
        done({ code, stdout, stderr });
      },
    );
    running.add(child);
  });
}

/** The limits of a machine without the right to raise them; podman's own defaults are higher. */
function settings(folder: string): string {
  return [
    '[containers]',
    'default_ulimits = ["nofile=16384:16384", "nproc=4096:4096"]',
    'log_driver = "k8s-file"',
    '[network]',
    'network_backend = "netavark"',
    `network_config_dir = "${join(folder, 'networks')}"`,
    '[engine]',
    'cgroup_manager = "cgroupfs"',
    'events_logger = "file"',
    '',
  ].join('\n');
}

export interface ContainerPlan {
  readonly name: string;
  readonly service: Service;
  readonly projectDir: string;
  /** False where this machine has no memory controller to delegate. */
  readonly limitMemory: boolean;
  readonly cgroupParent: string;
}

/** Podman's arguments for a container as the compose file describes it: options, image, command. */
export function containerArgs({
  name,
  service,
  projectDir,
  limitMemory,
  cgroupParent,
}: ContainerPlan): string[] {
  const { entrypoint, volumes = [], tmpfs = [], environment = {} } = service;
  const each = (option: string, values: readonly string[] = []): string[] =>
    values.flatMap((value) => [option, value]);
  const given = (option: string, value: string | undefined): string[] =>
    value === undefined ? [] : [option, value];
  return [
    ...['--name', name, '--pull', 'never', `--cgroup-parent=${cgroupParent}`],
    ...each(
      '--network',
      service.networks.map((network) => `${network}:alias=${name}`),
    ),
    ...each('--publish', service.ports),
    ...each(
      '--volume',
      volumes.map((volume) => (volume.startsWith('./') ? resolve(projectDir, volume) : volume)),
    ),
    // Docker mounts them so.
    ...each(
      '--tmpfs',
      tmpfs.map((path) => `${path}:rw,noexec,nosuid,nodev,mode=1777`),
    ),
    ...(service.read_only === true ? ['--read-only', '--read-only-tmpfs=false'] : []),
    ...(service.init === true ? ['--init'] : []),
    ...each('--cap-drop', service.cap_drop),
    ...each(
      '--security-opt',
      service.security_opt?.map((option) => option.replace(/^no-new-privileges:true$/, 'no-new-privileges')),
    ),
    ...given('--user', service.user),
    ...given('--memory', limitMemory ? service.mem_limit : undefined),
    ...given('--shm-size', service.shm_size),
    ...each(
      '--env',
      Object.entries(environment).map(([variable, value]) => `${variable}=${value}`),
    ),
    ...given('--entrypoint', entrypoint && JSON.stringify(entrypoint)),
    '--stop-timeout',
    String(millisecondsOf(service.stop_grace_period ?? '10s') / 1000),
    service.image,
  ];
}
