import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { freemem } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { drop, keep } from '../../lab/servers/keeper.js';
import { runProgram } from './podman.js';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
/** Not below /tmp, which may be memory, or too small. */
const parent = '/var/tmp';
const prefix = 'gpu-rental-compose-';
const endLimitMs = 30_000;
const storeBytes = 6 * 1024 ** 3;

/** Makes a folder for one run, named by its process, after it has removed those of dead ones. */
export async function makeRunFolder(): Promise<string> {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
    const pid = name.slice(prefix.length).split('-')[0] ?? '';
    if (!existsSync(`/proc/${pid}`)) await removeRunFolder(join(parent, name));
  }
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  // The lab's machines have another user, who must reach their homes below.
  chmodSync(folder, 0o711);
  return folder;
}

/**
 * Removes the folder after the run's first process has ended. That ends its namespaces, with their mounts and networks,
 * and the kernel ends the processes in them, which takes a moment.
 * @throws Error after 30 s, when its control groups are still in use
 */
export async function removeRunFolder(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const controllers = '/sys/fs/cgroup';
  const roots = [controllers, ...readdirSync(controllers).map((name) => join(controllers, name))];
  const deadline = performance.now() + endLimitMs;
  for (const root of roots) {
    while (!removeGroups(join(root, basename(folder)))) {
      if (performance.now() > deadline) throw new Error(`${join(root, basename(folder))} is still in use`);
      await sleep(100);
    }
  }
}

/** Removes control groups as empty folders, the innermost first. @returns false while one is in use */
function removeGroups(folder: string): boolean {
  try {
    for (const name of readdirSync(folder)) {
      if (statSync(join(folder, name)).isDirectory() && !removeGroups(join(folder, name))) return false;
    }
    rmdirSync(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return true;
    if (code === 'EBUSY') return false;
    throw error;
  }
}

/**
 * Runs this program again as the first process of new namespaces: its mounts and processes end with it, however it
 * ends.
 * @returns its exit code
 */
export async function runApart(folder: string, signal: AbortSignal): Promise<number> {
  const world = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private'];
  const child = spawn(
    'unshare',
    [...world, 'catatonit', '--', process.execPath, '--import', 'tsx', main, 'inside', folder],
    { stdio: ['ignore', 'inherit', 'inherit'], detached: true },
  );
  const { pid } = child;
  if (pid === undefined) throw new Error('unshare could not be started');
  keep(pid, 'TERM');
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  signal.addEventListener('abort', kill);
  const code = await new Promise<number>((done) => child.once('exit', (ended) => done(ended ?? 130)));
  signal.removeEventListener('abort', kill);
  drop(pid);
  return code;
}

async function must(...[command = '', ...args]: string[]): Promise<void> {
  const { code, stderr } = await runProgram(command, args, 10_000);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${stderr.trim()}`);
}

const resolver = '/etc/resolv.conf';

/** Called inside: gives the run its own version of the parts that it would otherwise share with the machine. */
export async function furnish(folder: string): Promise<void> {
  const file = realpathSync(resolver);
  const nameServers = readFileSync(file);
  await must('mount', '-t', 'tmpfs', 'tmpfs', '/run');
  // Some machines keep this file there.
  if (file.startsWith('/run/')) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, nameServers);
  }
  await must('mount', '-t', 'tmpfs', 'tmpfs', '/dev/shm');
  // Memory is quicker than a disk, and gone with the run.
  if (freemem() > 1.5 * storeBytes)
    await must('mount', '-t', 'tmpfs', '-o', `size=${storeBytes},mode=711`, 'tmpfs', folder);
  // Where both versions of the control groups are mounted, crun takes neither.
  if (hasMount('cgroup2', '/sys/fs/cgroup/unified')) await must('umount', '/sys/fs/cgroup/unified');
}

/** @returns true where containers can be given limits of memory */
export function hasMemoryLimits(): boolean {
  const second = '/sys/fs/cgroup/cgroup.controllers';
  if (existsSync(second)) return readFileSync(second, 'utf8').split(/\s/).includes('memory');
  return hasMount('cgroup', '/sys/fs/cgroup/memory');
}

function hasMount(type: string, place: string): boolean {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return mounts.some((line) => line.split(' ')[1] === place && line.split(' ')[2] === type);
}

/** Called inside: runs the play in its own network, so that it touches no port and no rule of this machine. */
export async function runInOwnNetwork(folder: string): Promise<number> {
  const child = spawn('unshare', ['--net', process.execPath, '--import', 'tsx', main, 'play', folder], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return new Promise((done) => child.once('exit', (code) => done(code ?? 1)));
}

/**
 * Called in the run's own network: gives this machine an address that containers reach by their default route, and that
 * nobody else has. A name server there knows no name: the machine's own servers are out of reach, and containers would
 * wait for them.
 */
export async function layNetwork(hostAddress: string, folder: string): Promise<void> {
  await must('ip', 'link', 'set', 'lo', 'up');
  await must('ip', 'address', 'add', `${hostAddress}/32`, 'dev', 'lo');
  const file = join(folder, 'resolv.conf');
  writeFileSync(file, `nameserver ${hostAddress}\n`);
  await must('mount', '--bind', file, realpathSync(resolver));
  const server = createSocket('udp4');
  server.on('message', (query, { address, port }) => server.send(unknownName(query), port, address));
  server.bind(53, hostAddress);
  await once(server, 'listening');
  server.unref();
}

/** Returns the query as an answer that says NXDOMAIN (RFC 1035, 4.1.1). */
function unknownName(query: Buffer): Buffer {
  const answer = Buffer.from(query);
  answer.writeUInt16BE(0x8183, 2);
  return answer;
}
