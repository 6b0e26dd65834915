import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks of the kernel in a second; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * Seconds of processor time that a process and its children have used so far (Linux): the living ones, and those that
 * ended and that it has waited for, such as a server's connections and autovacuum's workers. It never goes down.
 */
export function cpuSecondsOfTree(pid: number): number {
  const ticks = tree(pid).reduce((sum, [, cpuTicks]) => sum + cpuTicks, 0);
  return ticks / TICKS_PER_SECOND;
}

/** The ids of a process and its living children (Linux). */
export function processesOfTree(pid: number): number[] {
  return tree(pid).map(([id]) => id);
}

function tree(pid: number): [id: number, cpuTicks: number][] {
  const parents = new Map<number, number>();
  const used: [id: number, cpuTicks: number][] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readStat(name);
    if (!stat) continue;
    parents.set(Number(name), stat.parent);
    used.push([Number(name), stat.cpuTicks]);
  }
  const belongs = (id: number): boolean => id === pid || (parents.has(id) && belongs(parents.get(id) ?? 0));
  return used.filter(([id]) => belongs(id));
}

function readStat(pid: string): { parent: number; cpuTicks: number } | undefined {
  try {
    // The command name, in brackets, may hold spaces: the fields are counted after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number);
    return {
      parent: Number(fields[1]),
      cpuTicks: (utime ?? 0) + (stime ?? 0) + (cutime ?? 0) + (cstime ?? 0),
    };
  } catch {
    return undefined;
  }
}
