import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** What one file took, from the end of the one before in its process: its modules are loaded in that time, too. */
interface Took {
  readonly file: string;
  readonly seconds: number;
  /** Of its process, and of all programs that it has started. */
  readonly processorSeconds: number;
  readonly pid: number;
  /** Of the programs that its process leaves running: a browser, whose time is lost to its parent by how it ends. */
  readonly leftRunningSeconds: number;
}

const variable = 'GPU_RENTAL_TEST_TIMES';
const SHOWN = 20;
/** Of Linux, the same on all its machines. */
const TICKS_PER_SECOND = 100;

/** Begins to note what each file takes, in the processes that inherit this one's environment. */
export function noteTimes(): void {
  process.env[variable] = join(mkdtempSync(join(tmpdir(), 'gpu-rental-times-')), 'times');
}

let before = { ms: 0, processorSeconds: 0 };

/** Notes what a file took that has just ended in this process. */
export function fileEnded(path: string | undefined): void {
  const times = process.env[variable];
  if (times === undefined || path === undefined) return;
  const { ended, running } = childrenSeconds();
  const now = { ms: performance.now(), processorSeconds: ownSeconds() + ended + running };
  const took: Took = {
    file: relative(process.cwd(), path),
    seconds: (now.ms - before.ms) / 1_000,
    processorSeconds: now.processorSeconds - before.processorSeconds,
    pid: process.pid,
    leftRunningSeconds: running,
  };
  before = now;
  appendFileSync(times, `${JSON.stringify(took)}\n`);
}

/**
 * Says which files took longest, and how much processor time the run took: that of all files, of this process, and of the
 * servers.
 * @param stopServers ends the servers; only then their time is known
 */
export async function tellTimes(stopServers: () => Promise<void>): Promise<string> {
  const times = process.env[variable];
  await stopServers();
  if (times === undefined) return '';
  const files = readTimes(times);
  rmSync(join(times, '..'), { recursive: true, force: true });
  const leftRunning = new Map(files.map(({ pid, leftRunningSeconds }) => [pid, leftRunningSeconds]));
  const { ended, running } = childrenSeconds();
  const total =
    ownSeconds() + ended + running + [...leftRunning.values()].reduce((sum, each) => sum + each, 0);
  const beside = total - files.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0);
  const lines = files
    .toSorted((a, b) => b.processorSeconds - a.processorSeconds)
    .slice(0, SHOWN)
    .map(
      (took) =>
        `  ${took.processorSeconds.toFixed(1).padStart(6)}  ${took.seconds.toFixed(1).padStart(6)}  ${took.file}`,
    );
  return [
    'The files that took longest (processor seconds, seconds):',
    ...lines,
    `Processor time: ${Math.round(total)} s, ${Math.round(beside)} s of it the servers that the files share, and mocha.\n`,
  ].join('\n');
}

function readTimes(file: string): Took[] {
  try {
    return readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Took);
  } catch {
    return [];
  }
}

function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

/** Of all programs that this one has started, and those that they have started; 0 where the system does not tell. */
function childrenSeconds(): { readonly ended: number; readonly running: number } {
  try {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const alive = all.map(readProcess).filter((each) => each !== undefined);
    let running = 0;
    const families = new Set([process.pid]);
    // A child may have a lower number than its parent.
    for (let size = 0; size !== families.size;) {
      size = families.size;
      for (const { pid, parent } of alive) if (families.has(parent)) families.add(pid);
    }
    families.delete(process.pid);
    for (const { pid, ownTicks, endedTicks } of alive)
      if (families.has(pid)) running += ownTicks + endedTicks;
    const ended = readProcess('self')?.endedTicks ?? 0;
    return { ended: ended / TICKS_PER_SECOND, running: running / TICKS_PER_SECOND };
  } catch {
    return { ended: 0, running: 0 };
  }
}

/** The processor time of a process, and that of its children that have ended. */
interface ProcessTime {
  readonly pid: number;
  readonly parent: number;
  readonly ownTicks: number;
  readonly endedTicks: number;
}

function readProcess(name: string): ProcessTime | undefined {
  try {
    // The name of the program, in parentheses, may hold blanks.
    const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const [, parent, , , , , , , , , , own = 0, system = 0, ended = 0, endedSystem = 0] = fields.map(Number);
    return {
      pid: Number(name),
      parent: parent ?? 0,
      ownTicks: own + system,
      endedTicks: ended + endedSystem,
    };
  } catch {
    return undefined;
  }
}
