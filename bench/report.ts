import { cpus, loadavg, totalmem } from 'node:os';
import type { Database } from '../adapters/postgres/database.js';

/** Returns the value below which this part (0..1) of the samples lies. */
export function percentile(samples: readonly number[], part: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}

export function round(value: number, digits = 0): number {
  return Number(value.toFixed(digits));
}

/** One number of a benchmark as the table of all benchmarks shows it (all.ts). */
export interface Figure {
  /** Its name for goals.ts. It names everything that makes it another figure, such as the size. */
  readonly id: string;
  /** What it is, in words for the table. */
  readonly what: string;
  readonly ours: number;
  /** The unit of `ours`, and of the peer's value: `ms`, `/s`, `cores`; empty for a count. */
  readonly unit: string;
  /** The same thing done by the floor or a peer, in the same run. */
  readonly peer?: { readonly what: string; readonly value: number };
}

/** What a benchmark prints as JSON, besides its own fields. */
export interface Reported {
  readonly bench: string;
  readonly figures: readonly Figure[];
  readonly conditions: Conditions;
}

export interface Conditions {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGiB: number;
  /** The mean number of processes that ran or waited for a core in the minute before the benchmark began. */
  readonly loadBefore: number;
  readonly node: string;
  /** The settings of the PostgreSQL that was measured; undefined where none was. */
  readonly postgres: Readonly<Record<string, string>> | undefined;
  readonly date: string;
}

const loadBefore = round(loadavg()[0] ?? 0, 2);
const noted: { postgres: Conditions['postgres'] } = { postgres: undefined };

/** The settings that decide how fast PostgreSQL writes. */
const toldSettings = [
  ...['shared_buffers', 'work_mem', 'max_wal_size', 'checkpoint_timeout', 'wal_compression', 'autovacuum'],
  ...['fsync', 'synchronous_commit', 'full_page_writes', 'jit'],
];

/** Notes the settings of the server that is measured, so that all that is reported from then on tells them. */
export async function notePostgres(db: Database): Promise<void> {
  const { rows } = await db.raw<{ rows: { name: string; setting: string }[] }>(
    `select name, current_setting(name) as setting from pg_settings where name = any(?) order by name`,
    [['server_version', ...toldSettings]],
  );
  noted.postgres = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

/** The conditions of a measurement; a figure is worth nothing without them. */
function conditions(): Conditions {
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGiB: round(totalmem() / 2 ** 30),
    loadBefore,
    node: process.version,
    postgres: noted.postgres,
    date: new Date().toISOString().slice(0, 10),
  };
}

/**
 * Prints one benchmark's result: a line for people, then JSON.
 * @param details everything that was measured, with names of the benchmark's own
 * @param figures those that stand in the table of all benchmarks; a goal (goals.ts) names one by its id
 */
export function report(
  name: string,
  human: string,
  details: Record<string, unknown>,
  figures: readonly Figure[] = [],
): void {
  const reported: Reported = { bench: name, figures, conditions: conditions() };
  console.log(`${name}: ${human}`);
  console.log(JSON.stringify({ ...details, ...reported }));
}
