import { createHash } from 'node:crypto';
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

/**
 * Makes a shell script that answers as nvidia-smi would on a machine with these GPUs: the plain table, `-L`, and
 * `--query-gpu=… --format=csv[,noheader][,nounits]`.
 * @param podId determines the GPUs' UUIDs, so that they stay the same for the pod's life
 */
export function nvidiaSmiScript(gpu: LabGpu, gpuCount: number, podId: string): string {
  const uuids = Array.from({ length: gpuCount }, (_, index) => uuidOf(podId, index));
  return [
    '#!/bin/sh',
    '# nvidia-smi of a lab pod: shows the GPUs that were rented.',
    `name='${gpu.productName}'`,
    `total=${gpu.memoryMib}`,
    `count=${gpuCount}`,
    `uuids='${uuids.join(' ')}'`,
    `driver='${DRIVER}'`,
    `cuda='${CUDA}'`,
    BODY,
  ].join('\n');
}

function uuidOf(podId: string, index: number): string {
  const hex = createHash('sha256').update(`${podId}/${index}`).digest('hex');
  return `GPU-${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')}`;
}
