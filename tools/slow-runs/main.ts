import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { LEFT_OUT, runInGroup } from '../../lab/servers/script-run.js';
import { chooseRuns, slowRuns, type SlowRun } from './plan.js';

/**
 * `npm run test:slow`: runs the test files that end in `.slow.ts`, and then, three at a time, what else checks the
 * project, each command in its shortest form, of the benchmarks a third. `npm run test:slow -- bench:meter` runs those of
 * that name. Ends with 1 when one failed. The last line is "N passed, N failed", where each test and each command counts,
 * and SLOW_RUN_COUNTS names a file for the two numbers and, below them, the failures.
 */
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stopping.abort());
}

const nameOf = ({ script, args }: SlowRun): string => [script, ...args].join(' ');

/** How much of what a failed run wrote last is told once more at the end, where people look first. */
const TOLD_LINES = 15;

const lastLines = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .slice(-TOLD_LINES)
    .map((line) => `  ${line.slice(0, 500)}\n`)
    .join('');

/** The numbers of tests, and what of the failures is repeated at the end. */
interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly failures: string;
}

/**
 * Runs one.
 * @param show takes what it writes
 * @returns undefined where it needs something that can't be had here
 */
async function play(slow: SlowRun, show: (text: string) => void): Promise<Outcome | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'slow-run-'));
  const counts = join(folder, 'counts');
  const reporter = [
    '--reporter',
    './test/support/counting-reporter.cjs',
    '--reporter-option',
    `counts=${counts}`,
  ];
  let written = '';
  const note = (text: string): void => {
    written = (written + text).slice(-20_000);
    show(text);
  };
  try {
    const ended = await runInGroup({
      command: [
        ...(['npm', 'run', '--silent', slow.script, '--', ...slow.args] as const),
        ...(slow.counts ? reporter : []),
      ],
      env: { ...process.env, ...slow.env },
      limitSeconds: slow.limitSeconds,
      onOutput: note,
      onError: note,
      signal: stopping.signal,
    });
    return outcomeOf(slow, ended, slow.counts ? readCounts(counts) : undefined, written);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns undefined where it needs something that can't be had here */
function outcomeOf(
  slow: SlowRun,
  ended: { readonly code: number } | { readonly why: string },
  counted: Outcome | undefined,
  written: string,
): Outcome | undefined {
  if ('code' in ended && ended.code === LEFT_OUT) return undefined;
  const isDone = 'code' in ended && ended.code === 0;
  if (counted && (isDone || counted.failed > 0)) return counted;
  if (isDone) return { passed: 1, failed: 0, failures: '' };
  const failures = `failed: ${nameOf(slow)} (${whyOf(ended)})\n${lastLines(written)}`;
  return { passed: counted?.passed ?? 0, failed: 1, failures };
}

const whyOf = (ended: { readonly code: number } | { readonly why: string }): string =>
  'why' in ended ? ended.why : `exit ${ended.code}`;

/** @returns what mocha counted; undefined where it ended before its end */
function readCounts(file: string): Outcome | undefined {
  if (!existsSync(file)) return undefined;
  const [numbers = '', ...failures] = readFileSync(file, 'utf8').split('\n');
  const [passed = 0, failed = 0] = numbers.split(' ').map(Number);
  return { passed, failed, failures: failures.join('\n') };
}

const total = { passed: 0, failed: 0, failures: '' };
const chosen = chooseRuns(process.argv.slice(2));
if (chosen.length === 0) {
  console.error(
    `Nothing is called that. There are: ${[...new Set(slowRuns.map(({ script }) => script))].join(', ')}`,
  );
  process.exit(2);
}
for (const slow of chosen) {
  if (slow.counts) await tell(slow, (text) => process.stdout.write(text));
}
// What waits much leaves the machine to its neighbours, and in their shortest form benchmarks measure nothing. What each
// writes is shown in one piece.
const together = pLimit(3);
await Promise.all(
  chosen
    .filter(({ counts }) => !counts)
    .map((slow) =>
      together(async () => {
        const chunks: string[] = [];
        await tell(slow, (text) => chunks.push(text));
        process.stdout.write(chunks.join(''));
      }),
    ),
);

async function tell(slow: SlowRun, show: (text: string) => void): Promise<void> {
  if (stopping.signal.aborted) return;
  show(`-- ${nameOf(slow)}\n`);
  const begun = performance.now();
  const outcome = await play(slow, show);
  const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
  const word = outcome === undefined ? 'left out' : outcome.failed > 0 ? 'FAILED' : 'passed';
  show(`-- ${nameOf(slow)}: ${word}, ${seconds} s\n`);
  total.passed += outcome?.passed ?? 0;
  total.failed += outcome?.failed ?? 0;
  total.failures += outcome?.failures ?? '';
}
process.stdout.write(total.failures);
const counts = process.env['SLOW_RUN_COUNTS'];
if (counts !== undefined) writeFileSync(counts, `${total.passed} ${total.failed}\n${total.failures}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 && !stopping.signal.aborted ? 0 : 1);
