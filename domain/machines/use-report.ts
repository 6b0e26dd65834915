import { meanOf, mostOf, noUse, sumUp, type MachineUse } from './telemetry.js';

/** The first words of a report of use (decision 181, "A reporter of use"). */
export const useHeader = 'gpu-use 1';

/** What the reporter asks `nvidia-smi` for, in the order of a row's fields. */
export const useFields = ['utilization.gpu', 'utilization.memory'] as const;

/**
 * Reads a report of use: its first line has the uptime in seconds, the processors and the memory in per cent, bytes of
 * the network each second, and open sessions; below it, after a line `-` each, are samples with a row for each GPU. What
 * is not understood is not told: `[N/A]` of a sliced GPU, `ERR!` of a wedged one, a sentence about a driver.
 * @param gpuCount how many GPUs were rented: one that a sample leaves out may be in use
 */
export function readUse(body: string, gpuCount: number): MachineUse {
  const [first = '', ...lines] = body.split('\n').map((line) => line.trim());
  if (!first.startsWith(`${useHeader} `)) return noUse;
  const [, cpu, memory, network, sessions] = first.slice(useHeader.length + 1).split(' ');
  const ofMachine = {
    cpuPercent: wholeUpTo(cpu, 100),
    memoryPercent: wholeUpTo(memory, 100),
    networkBytesPerSecond: wholeUpTo(network, Number.MAX_SAFE_INTEGER),
    sessions: wholeUpTo(sessions, Number.MAX_SAFE_INTEGER),
  };
  const samples = samplesIn(lines).map((rows) => ({ ...ofMachine, ...readSample(rows, gpuCount) }));
  return samples.length === 0 ? { ...noUse, ...ofMachine } : sumUp(samples);
}

function samplesIn(lines: readonly string[]): string[][] {
  const samples: string[][] = [];
  for (const line of lines) {
    if (line === '-') samples.push([]);
    else if (line !== '') samples.at(-1)?.push(line);
  }
  return samples;
}

type GpuUse = Pick<MachineUse, 'gpuPercent' | 'busiestGpuPercent' | 'gpuMemoryPercent'>;

function readSample(rows: readonly string[], gpuCount: number): GpuUse {
  const read = rows.map((row) => {
    const fields = row.split(',').map((field) => field.trim());
    return fields.length === useFields.length ? fields.map((field) => wholeUpTo(field, 100)) : [];
  });
  const busy = read.map(([gpu = null]) => gpu);
  return {
    gpuPercent: meanOf(busy),
    busiestGpuPercent: read.length < gpuCount ? null : mostOf(busy),
    gpuMemoryPercent: meanOf(read.map(([, memory = null]) => memory)),
  };
}

function wholeUpTo(text: string | undefined, most: number): number | null {
  if (text === undefined || !/^\d{1,16}$/.test(text)) return null;
  return Number(text) <= most ? Number(text) : null;
}
