import type { Software } from '../../../domain/rentals/software.js';
import { notebookPort } from '../../../domain/rentals/notebook.js';
import { ProviderError, type AllocationRequest, type Oddity, type Pod } from '../provider.js';
import { findOurPod, type StatusWords } from '../listed-pod.js';
import { findGpuModel } from '../offers/gpu-models.js';
import { centsOfUsd } from '../offers/prices.js';
import type { ListedHardware } from '../../../domain/machines/claims.js';
import { noUse, type ListedUse } from '../../../domain/machines/telemetry.js';
import { proofLines, type ReportTarget } from '../proof-script.js';
import { ownScriptLines } from '../startup-script.js';
import { bareKey } from '../ssh/throw-away-keys.js';
import { fieldsOf, findList, numberField, textField, type Fields } from '../upstream/fields.js';

/** Args and `onstart` together may have so many characters. */
const MOST_SCRIPT = 4_096;
/** It is no word of Vast's: its status is null until a machine has begun to load. */
const NOT_YET = 'created';

const WORDS: StatusWords = {
  statuses: new Map([
    [NOT_YET, 'pending'],
    ['loading', 'pending'],
    ['scheduling', 'pending'],
    ['running', 'active'],
    ['rebooting', 'pending'],
    // The host has sent no heartbeat, or is cut off: mostly for a while, and its own machines run on meanwhile.
    ['unknown', 'pending'],
    ['offline', 'pending'],
    ['stopped', 'lost'],
    ['frozen', 'lost'],
    ['exited', 'lost'],
  ]),
  // A machine that is gone is in no list; this word is never said.
  gone: 'destroyed',
};

/** Reads one element of `instances`; undefined for a pod that is not ours. */
export function findPod(value: unknown, tagPrefix: string, odd: (oddity: Oddity) => void): Pod | undefined {
  const instance = fieldsOf(value);
  const id = numberField(instance, 'id');
  const listed = {
    podId: id === null ? null : String(id),
    names: [textField(instance, 'label') ?? ''],
    upstreamStatus: textField(instance, 'actual_status') ?? NOT_YET,
    ...addressOf(instance),
    pricePerHourCents: centsOfUsd(numberField(instance, 'dph_total') ?? 0),
    use: useOf(instance),
    hardware: hardwareOf(instance),
  };
  return findOurPod(listed, WORDS, tagPrefix, odd);
}

/** Reads what the list tells of the machine below the container. */
function hardwareOf(instance: Fields): ListedHardware {
  const machine = numberField(instance, 'machine_id');
  const vramGb = Math.round((numberField(instance, 'gpu_ram') ?? 0) / 1_024);
  const gpu = findGpuModel('vast', { name: textField(instance, 'gpu_name') ?? '', vramGb });
  return {
    machine: machine === null ? null : String(machine),
    model: gpu?.model ?? null,
    gpuCount: numberField(instance, 'num_gpus'),
  };
}

/** Reads the port that the host itself opens for SSH, which is there once the container runs. */
function addressOf(instance: Fields): Pick<Pod, 'host' | 'port' | 'username'> {
  const host = textField(instance, 'public_ipaddr')?.trim() ?? '';
  const [mapping] = findList(fieldsOf(instance['ports']), '22/tcp') ?? [];
  const port = Number(textField(fieldsOf(mapping), 'HostPort') ?? NaN);
  if (host === '' || !Number.isInteger(port)) return { host: null, port: null, username: null };
  return { host, port, username: 'root' };
}

/**
 * Reads the use of a machine whose host is heard of. One number tells of all its GPUs, and nobody says how: the busiest
 * has at most as much as all together.
 */
function useOf(instance: Fields): ListedUse | undefined {
  if (textField(instance, 'actual_status') !== 'running') return undefined;
  const util = numberField(instance, 'gpu_util');
  const count = numberField(instance, 'num_gpus');
  const used = numberField(instance, 'mem_usage');
  const memory = numberField(instance, 'mem_limit');
  return {
    ...{ ...noUse, report: null },
    gpuPercent: util,
    busiestGpuPercent: util === null || count === null ? null : Math.min(100, util * count),
    cpuPercent: numberField(instance, 'cpu_util'),
    memoryPercent: used === null || !memory ? null : (100 * used) / memory,
  };
}

/**
 * Makes the script that a container runs at each start: it opens the machine for the renter's keys and for no other.
 * @throws ProviderError no_capacity when keys and software are too long for it: another upstream takes them
 */
export function onstartOf({
  publicKeys,
  notebookToken,
  software,
  bootstrap,
  report,
}: Pick<AllocationRequest, 'publicKeys' | 'notebookToken' | 'software' | 'bootstrap' | 'report'>): string {
  const lines = publicKeys.map((line) => `'${bareKey(line)}'`).join(' ');
  const script = [
    'umask 077',
    'cd "${HOME:-/root}" && mkdir -p .ssh',
    `printf '%s\\n' ${lines === '' ? "''" : lines} > .ssh/authorized_keys`,
    ...(notebookToken === undefined ? [] : notebookLines(notebookToken)),
    ...onceLines(ownLines(software, bootstrap)),
  ].join('\n');
  // It tells how its GPUs are, where there is room for that: nobody loses a machine for it.
  const telling = report === undefined ? script : [...tellingLines(report), script].join('\n');
  if (telling.length <= MOST_SCRIPT) return telling;
  if (script.length <= MOST_SCRIPT) return script;
  throw new ProviderError(
    'no_capacity',
    `keys and software of the renter make a script of ${script.length} characters, and it takes ${MOST_SCRIPT}`,
    { unfitOrder: true },
  );
}

/** A container that starts again is its renter's already: what it would tell then could end it with all that is on it. */
function tellingLines(report: ReportTarget): string[] {
  return ['if mkdir "${HOME:-/root}/.gpu-proof" 2> /dev/null; then', ...proofLines(report), 'fi'];
}

/** The image of the plain system has no program that fetches. */
const ENSURE_FETCHER =
  'command -v curl || command -v wget || { apt-get -qq update && apt-get -qqy install curl ca-certificates; }';

function ownLines(
  software: Software | undefined,
  bootstrap: readonly string[] | undefined,
): readonly string[] {
  if (bootstrap) return [ENSURE_FETCHER, ...bootstrap];
  return software ? ownScriptLines(software) : [];
}

/** Runs what a renter starts beside what Vast starts, at the first start of the container alone. */
function onceLines(lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  return ['umask 022', 'if mkdir .start-script; then (', ...lines, ') > .start-script/log 2>&1 & fi'];
}

/**
 * Starts the notebook of an image whose entrypoint Vast's own has replaced. It listens on loopback alone, because Vast
 * opens the ports that an image exposes.
 */
function notebookLines(token: string): string[] {
  const { port } = notebookPort;
  return [
    'umask 022',
    'export PATH="$PATH:/opt/conda/bin"',
    `JUPYTER_TOKEN=${token} nohup jupyter lab --ip=127.0.0.1 --port=${port} --no-browser --allow-root > jupyter.log 2>&1 &`,
  ];
}
