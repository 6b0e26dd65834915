import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { formatted } from '../tools/formatted.js';
import { runBench, type Outcome } from './table/run.js';
import { mergeOutcomes, renderTable, replaceBetweenMarks, rowsOf } from './table/table.js';

/**
 * bench:all. Runs the benchmarks one after the other and prints one table: each figure, its floor or peer, its goal. It
 * goes on after a failure, and ends with 1 when a benchmark failed; a goal that is not met is no failure.
 *
 * `npm run bench:all -- bench:read bench:api` runs those alone.
 * --out FOLDER   where table.json and table.md are written; .data/bench by default
 * --add          keeps the figures of the benchmarks that do not run now, as table.json has them
 * --readme       renews the table in bench/README.md
 */
const usage = 'npm run bench:all -- [--out FOLDER] [--add] [--readme] [bench:NAME …]';
const root = fileURLToPath(new URL('..', import.meta.url));

/** Run when they are named: the soak takes half an hour and a quiet machine, the pair another build. */
const notByDefault = ['bench:soak', 'bench:paints'];
/** The longest that a benchmark may take, in seconds, several times what it takes on two cores. */
const limitSeconds: Readonly<Record<string, number>> = { 'bench:meter': 7_200, 'bench:soak': 7_200 };
const usualLimitSeconds = 1_800;

/** The benchmarks are the scripts of package.json that are called so. */
function findBenches(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Record<string, string>;
  };
  return Object.keys(scripts).filter((name) => name.startsWith('bench:') && name !== 'bench:all');
}

/** The commit that is measured, and whether the tree differs from it. */
function readCommit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  try {
    const dirty = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : ' with changes';
    return `${git('rev-parse', '--short', 'HEAD')}${dirty}`;
  } catch {
    return 'unknown';
  }
}

interface Wanted {
  readonly benches: readonly string[];
  readonly order: readonly string[];
  readonly out: string;
  readonly add: boolean;
  readonly readme: boolean;
}

/** @throws Error for an option or a benchmark that there is not */
function readWanted(): Wanted {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { out: { type: 'string' }, add: { type: 'boolean' }, readme: { type: 'boolean' } },
  });
  const order = findBenches();
  const unknown = positionals.find((name) => !order.includes(name));
  if (unknown !== undefined) throw new Error(`There is no ${unknown}. There are: ${order.join(', ')}`);
  return {
    benches: order.filter((name) =>
      positionals.length === 0 ? !notByDefault.includes(name) : positionals.includes(name),
    ),
    order,
    out: values.out ?? join(root, '.data', 'bench'),
    add: values.add === true,
    readme: values.readme === true,
  };
}

async function runAll(benches: readonly string[], signal: AbortSignal): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const bench of benches) {
    if (signal.aborted) break;
    console.error(`-- ${bench}`);
    const outcome = await runBench({
      bench,
      command: ['npm', 'run', '--silent', bench],
      limitSeconds: limitSeconds[bench] ?? usualLimitSeconds,
      commit: readCommit(),
      signal,
      show: (text) => process.stderr.write(text),
    });
    const why = outcome.why === undefined ? '' : ` (${outcome.why})`;
    console.error(`-- ${bench}: ${outcome.ended}${why}, ${outcome.seconds} s`);
    outcomes.push(outcome);
  }
  return outcomes;
}

async function publish(outcomes: readonly Outcome[], { out, readme }: Wanted): Promise<void> {
  const readmeFile = join(root, 'bench', 'README.md');
  const table = renderTable(outcomes);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'table.json'), JSON.stringify({ rows: rowsOf(outcomes), outcomes }, null, 2));
  const printed = await formatted(readmeFile, table);
  writeFileSync(join(out, 'table.md'), printed);
  if (readme) {
    const renewed = replaceBetweenMarks(readFileSync(readmeFile, 'utf8'), table);
    writeFileSync(readmeFile, await formatted(readmeFile, renewed));
  }
  console.log(printed);
}

function readBefore({ add, out }: Wanted): Outcome[] {
  const file = join(out, 'table.json');
  if (!add || !existsSync(file)) return [];
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly outcomes: Outcome[] }).outcomes;
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
try {
  const wanted = readWanted();
  const before = readBefore(wanted);
  const now = await runAll(wanted.benches, stopping.signal);
  await publish(mergeOutcomes(before, now, wanted.order), wanted);
  process.exitCode = stopping.signal.aborted || now.some(({ ended }) => ended === 'failed') ? 1 : 0;
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  process.exitCode = 2;
}
