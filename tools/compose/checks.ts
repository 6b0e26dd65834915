import type { ComposeFile } from './compose-file.js';
import type { Engine, Outcome } from './engine.js';

/** The services that share no network with each other: their names do not even resolve there. */
const apart: Readonly<Record<string, readonly string[]>> = {
  api: ['temporal-postgres'],
  worker: ['temporal-postgres'],
  temporal: ['postgres'],
  postgres: ['temporal', 'temporal-postgres', 'temporal-ui'],
  'temporal-ui': ['postgres', 'temporal-postgres'],
};

/** @returns the differences between a running container and the compose file */
export async function findLockFaults(engine: Engine, service: string, file: ComposeFile): Promise<string[]> {
  const sh = (line: string): Promise<Outcome> => engine.exec(service, ['/bin/sh', '-c', line]);
  const faults: string[] = [];
  const { stdout: status } = await sh('cat /proc/1/status');
  const field = (name: string): string => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '';
  if (!/^0+,0+$/.test(`${field('CapBnd')},${field('CapEff')}`)) faults.push('it has capabilities');
  if (field('NoNewPrivs') !== '1') faults.push('it may gain rights');
  if (field('Uid') === '0') faults.push('it runs as root');
  if ((await sh('touch /forbidden')).code === 0) faults.push('its root can be written to');
  if ((await sh('touch /tmp/allowed')).code !== 0) faults.push('its /tmp can not be written to');
  for (const other of apart[service] ?? []) {
    if (!(other in file.services)) throw new Error(`There is no service ${other} to be kept apart from.`);
    if ((await sh(`getent hosts ${other}`)).code === 0) faults.push(`it reaches ${other}`);
  }
  return faults.map((fault) => `${service}: ${fault}`);
}

/** A container's memory, in bytes; undefined where this machine has no such limits. */
export interface Memory {
  readonly limit: number;
  readonly peak: number;
}

/** Reads the kernel's figures of a container's memory, in either version of its control groups. */
export async function findMemory(engine: Engine, service: string): Promise<Memory | undefined> {
  const files = ['memory.max memory.peak', 'memory/memory.limit_in_bytes memory/memory.max_usage_in_bytes'];
  for (const names of files) {
    const { code, stdout } = await engine.exec(service, [
      '/bin/sh',
      '-c',
      `cd /sys/fs/cgroup && cat ${names}`,
    ]);
    const [limit = NaN, peak = NaN] = stdout.trim().split(/\s+/).map(Number);
    if (code === 0 && Number.isFinite(limit)) return { limit, peak };
  }
  return undefined;
}

/** Checks that the UI shows workflows, and refuses to change one. @returns the faults */
export async function findUiFaults(url: string): Promise<string[]> {
  const shown = await fetch(`${url}/api/v1/namespaces/default/workflows`);
  const body = await shown.text();
  const change = await fetch(`${url}/api/v1/namespaces/default/workflows/mailer/terminate`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ reason: 'must be refused' }),
  });
  return [
    ...(shown.ok && body.includes('mailer') ? [] : [`temporal-ui: it shows no workflows (${shown.status})`]),
    ...(change.status >= 400 ? [] : [`temporal-ui: it let a workflow be ended (${change.status})`]),
  ];
}

/** Checks that the image has the dashboard in it: its document, and the script that it names. @returns the faults */
export async function findDashboardFaults(apiUrl: string): Promise<string[]> {
  const page = await (await fetch(`${apiUrl}/app`)).text();
  const [, script] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? [];
  if (script === undefined) return ['api: it serves no dashboard'];
  const { status, headers } = await fetch(new URL(script, apiUrl));
  const isKept = headers.get('cache-control')?.includes('immutable') === true;
  return status === 200 && isKept ? [] : [`api: the dashboard's script is not there (${status})`];
}
