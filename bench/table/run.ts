import { LEFT_OUT, runInGroup } from '../../lab/servers/script-run.js';
import type { Reported } from '../report.js';

/** What became of one benchmark. */
export interface Outcome {
  readonly bench: string;
  readonly ended: 'passed' | 'left out' | 'failed';
  /** Why it was left out or failed. */
  readonly why?: string;
  readonly seconds: number;
  readonly commit: string;
  readonly reported: readonly Reported[];
}

export interface BenchRun {
  readonly bench: string;
  readonly command: readonly [string, ...string[]];
  readonly limitSeconds: number;
  readonly commit: string;
  readonly signal: AbortSignal;
  /** Takes everything that it writes, as it comes. */
  readonly show: (text: string) => void;
}

/** Runs one benchmark in processes of its own. It never throws: a failure is an outcome, and the next one follows. */
export async function runBench(run: BenchRun): Promise<Outcome> {
  const output = { text: '', errors: '' };
  const began = performance.now();
  const ended = await runInGroup({
    command: run.command,
    env: process.env,
    limitSeconds: run.limitSeconds,
    signal: run.signal,
    onOutput: (text) => {
      output.text += text;
      run.show(text);
    },
    onError: (text) => {
      output.errors += text;
      run.show(text);
    },
  });
  const told = {
    bench: run.bench,
    seconds: Math.round((performance.now() - began) / 1_000),
    commit: run.commit,
    reported: readReported(output.text),
  };
  if ('why' in ended) return { ...told, ended: 'failed', why: ended.why };
  if (ended.code === LEFT_OUT) return { ...told, ended: 'left out', why: lastLine(output.errors) };
  if (ended.code !== 0) return { ...told, ended: 'failed', why: `exit ${ended.code}` };
  if (told.reported.length === 0) return { ...told, ended: 'failed', why: 'it reported nothing' };
  return { ...told, ended: 'passed' };
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

/** Reads the lines of JSON that report() prints, among everything else that a benchmark writes. */
export function readReported(text: string): Reported[] {
  return text.split('\n').flatMap((line) => {
    const value = line.startsWith('{') ? parse(line) : undefined;
    return isReported(value) ? [value] : [];
  });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isReported(value: unknown): value is Reported {
  if (typeof value !== 'object' || value === null) return false;
  const { bench, figures, conditions } = value as Partial<Reported>;
  return typeof bench === 'string' && Array.isArray(figures) && typeof conditions === 'object';
}
