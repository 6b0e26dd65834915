import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface ProcessEntry {
  /** Differs between two processes that had the same pid one after the other, or before and after a boot. */
  readonly stamp: string;
  readonly command: string;
}

/**
 * Looks a process up by its pid.
 * @returns undefined when no such process runs (a zombie counts as gone)
 */
export function findProcess(pid: number): ProcessEntry | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return process.platform === 'linux' ? findInProc(pid) : findWithPs(pid);
}

function findInProc(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may itself hold blanks and brackets, so fields are counted after the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startedAtTick] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X' || startedAtTick === undefined) return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { stamp: `${boot}:${startedAtTick}`, command };
  } catch {
    return undefined;
  }
}

function findWithPs(pid: number): ProcessEntry | undefined {
  const read = (column: string) =>
    spawnSync('ps', ['-o', `${column}=`, '-p', String(pid)], {
      encoding: 'utf8',
      env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' },
    }).stdout.trim();
  const stamp = read('lstart');
  return stamp === '' ? undefined : { stamp, command: read('command') };
}
