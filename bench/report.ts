import { cpus, totalmem } from 'node:os';

/** Returns the value below which this part (0..1) of the samples lies. */
export function percentile(samples: readonly number[], part: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}

export function round(value: number, digits = 0): number {
  return Number(value.toFixed(digits));
}

/** The conditions of a measurement; a figure is worth nothing without them. */
export function conditions(): Record<string, string | number> {
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGiB: round(totalmem() / 2 ** 30),
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  };
}

/** Prints one benchmark's result: a line for people, then JSON. */
export function report(name: string, human: string, figures: Record<string, unknown>): void {
  console.log(`${name}: ${human}`);
  console.log(JSON.stringify({ bench: name, ...figures, conditions: conditions() }));
}
