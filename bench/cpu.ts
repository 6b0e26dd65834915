import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks of the kernel in a second; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Seconds of processor time that a process and its living children have used so far (Linux). */
export function cpuSecondsOfTree(pid: number): number {
  const parents = new Map<number, number>();
  const used = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readStat(name);
    if (!stat) continue;
    parents.set(Number(name), stat.parent);
    used.set(Number(name), stat.cpuTicks);
  }
  const belongs = (id: number): boolean => id === pid || (parents.has(id) && belongs(parents.get(id) ?? 0));
  let ticks = 0;
  for (const [id, cpuTicks] of used) if (belongs(id)) ticks += cpuTicks;
  return ticks / TICKS_PER_SECOND;
}

function readStat(pid: string): { parent: number; cpuTicks: number } | undefined {
  try {
    // The command name, in brackets, may hold spaces: the fields are counted after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return { parent: Number(fields[1]), cpuTicks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
}
