import { createHash } from 'node:crypto';
import type { GpuFault } from './faults.js';
import type { LabGpu } from './offers.js';

const DRIVER = '570.133.20';
const CUDA = '12.8';

/** The same for every pod; it reads the variables that the head of the script sets. */
const BODY = String.raw`
uuid_of() {
  i=0
  for uuid in $uuids; do
    [ "$i" -eq "$1" ] && printf %s "$uuid"
    i=$((i + 1))
  done
}

header_of() {
  case "$1" in
    memory.*) printf '%s [MiB]' "$1" ;;
    utilization.*) printf '%s [%%]' "$1" ;;
    power.*) printf '%s [W]' "$1" ;;
    *) printf %s "$1" ;;
  esac
}

value_of() {
  mib=''; percent=''; watt=''
  [ "$units" = yes ] && { mib=' MiB'; percent=' %'; watt=' W'; }
  case "$1" in
    name|gpu_name) printf %s "$name" ;;
    index) printf %s "$2" ;;
    count) printf %s "$count" ;;
    uuid|gpu_uuid) uuid_of "$2" ;;
    driver_version) printf %s "$driver" ;;
    memory.total|memory.free) printf '%s%s' "$total" "$mib" ;;
    memory.used) printf '0%s' "$mib" ;;
    utilization.gpu|utilization.memory) printf '0%s' "$percent" ;;
    temperature.gpu) printf 31 ;;
    power.draw) printf '28.50%s' "$watt" ;;
    ecc.errors.uncorrected.volatile.total) printf %s "$ecc" ;;
    mig.mode.current) printf %s "$mig" ;;
    *) printf 'Field "%s" is not a valid field to query.\n' "$1" >&2; exit 2 ;;
  esac
}

row() {
  separator=''
  for field in $fields; do
    printf %s "$separator"
    "$1" "$field" "$2" || exit $?
    separator=', '
  done
  printf '\n'
}

query() {
  case ",$format," in *,csv,*) ;; *) echo '"--format=csv" is missing.' >&2; exit 6 ;; esac
  units=yes; head=yes
  case ",$format," in *,nounits,*) units=no ;; esac
  case ",$format," in *,noheader,*) head=no ;; esac
  for field in $fields; do value_of "$field" 0 > /dev/null || exit $?; done
  [ "$head" = yes ] && row header_of 0
  n=0
  while [ "$n" -lt "$count" ]; do row value_of "$n"; n=$((n + 1)); done
}

list() {
  n=0
  while [ "$n" -lt "$count" ]; do
    printf 'GPU %s: %s (UUID: %s)\n' "$n" "$name" "$(uuid_of "$n")"
    n=$((n + 1))
  done
}

line='+-----------------------------------------------------------------------------------------+'
table() {
  date
  echo "$line"
  printf '| NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-9s |\n' "$driver" "$driver" "$cuda"
  echo "$line"
  printf '| %-3s  %-38s | %-22s | %-15s |\n' GPU Name Memory-Usage GPU-Util
  echo "$line"
  n=0
  while [ "$n" -lt "$count" ]; do
    printf '| %3s  %-38s | %22s | %15s |\n' "$n" "$name" "0MiB / $total"MiB '0%'
    n=$((n + 1))
  done
  echo "$line"
  echo '|  No running processes found                                                             |'
  echo "$line"
}

fields=''; format=''; want=table
for argument in "$@"; do
  value="$(printf %s "$argument" | cut -d= -f2-)"
  case "$argument" in
    -L|--list-gpus) want=list ;;
    --query-gpu=*) want=query; fields=$(printf %s "$value" | tr ',' ' ') ;;
    --format=*) format=$(printf %s "$value" | tr -d ' ') ;;
    *) printf 'Invalid combination of input arguments: %s\n' "$argument" >&2; exit 1 ;;
  esac
done
$want
`;

/** What another machine than the rented one shows: a lesser product, with less memory. */
const LESSER = { productName: 'Tesla T4', memoryMib: 15_360, hasEcc: true, vramGb: 16 };

/** What it prints on a machine whose GPUs are gone, and how it ends (see domain/machines/proof.ts for the sources). */
const LAST_WORDS: Partial<Record<GpuFault, readonly [words: string, code: number]>> = {
  none: ['No devices were found', 6],
  lost: [
    'Unable to determine the device handle for GPU0000:02:00.0: GPU is lost.  Reboot the system to recover this GPU',
    15,
  ],
  no_driver: [
    'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.',
    9,
  ],
};

/**
 * Makes a shell script that answers as nvidia-smi would on a machine with these GPUs: the plain table, `-L`, and
 * `--query-gpu=… --format=csv[,noheader][,nounits]`.
 * @param podId determines the GPUs' UUIDs, so that they stay the same for the pod's life
 * @param fault what is wrong with the GPUs; null: nothing
 */
export function nvidiaSmiScript(
  rented: LabGpu,
  rentedCount: number,
  podId: string,
  fault: GpuFault | null = null,
): string {
  if (fault === 'hangs') return '#!/bin/sh\ntrap "" TERM\nsleep 60\n';
  const last = fault === null ? undefined : LAST_WORDS[fault];
  if (last) return `#!/bin/sh\necho '${last[0]}'\nexit ${last[1]}\n`;
  const gpu: LabGpu = fault === 'wrong_model' ? LESSER : rented;
  const gpuCount = fault === 'missing_gpu' ? rentedCount - 1 : rentedCount;
  const uuids = Array.from({ length: gpuCount }, (_, index) => uuidOf(podId, index));
  return [
    '#!/bin/sh',
    '# nvidia-smi of a lab pod: shows the GPUs that were rented.',
    `name='${gpu.productName}'`,
    `total=${fault === 'wedged' ? 'ERR!' : gpu.memoryMib}`,
    `ecc='${gpu.hasEcc === true ? eccErrorsOf(fault) : '[N/A]'}'`,
    `mig='${gpu.hasMig === true ? migModeOf(fault) : '[N/A]'}'`,
    `count=${gpuCount}`,
    `uuids='${uuids.join(' ')}'`,
    `driver='${DRIVER}'`,
    `cuda='${CUDA}'`,
    BODY,
  ].join('\n');
}

function eccErrorsOf(fault: GpuFault | null): number {
  return fault === 'ecc' ? 2 : 0;
}

function migModeOf(fault: GpuFault | null): string {
  return fault === 'sliced' ? 'Enabled' : 'Disabled';
}

function uuidOf(podId: string, index: number): string {
  const hex = createHash('sha256').update(`${podId}/${index}`).digest('hex');
  return `GPU-${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')}`;
}
