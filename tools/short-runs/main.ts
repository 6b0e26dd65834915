import { writeFileSync } from 'node:fs';
import pLimit from 'p-limit';
import { LEFT_OUT, runInGroup } from '../../lab/servers/script-run.js';
import { shortRuns, type ShortRun } from './plan.js';

/**
 * `npm run test:short`: runs the campaigns of faults, the run of the production's shape and the benchmarks, each in its
 * shortest form. `npm run test:short -- bench:meter` runs those of that name. Ends with 1 when one
 * failed. The last line is "N passed, N failed", and SHORT_RUN_COUNTS names a file for the two numbers and, below them,
 * the failures.
 */
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stopping.abort());
}

const nameOf = ({ script, args }: ShortRun): string => [script, ...args].join(' ');

/** How much of what a failed run wrote last is told once more at the end, where people look first. */
const TOLD_LINES = 15;

const lastLines = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .slice(-TOLD_LINES)
    .map((line) => `  ${line.slice(0, 500)}\n`)
    .join('');

/**
 * Runs one.
 * @param show takes what it writes
 * @returns how it ended; why, where it failed
 */
async function play(
  short: ShortRun,
  show: (text: string) => void,
): Promise<'passed' | 'left out' | { why: string }> {
  const ended = await runInGroup({
    command: ['npm', 'run', '--silent', short.script, '--', ...short.args],
    env: { ...process.env, ...short.env },
    limitSeconds: short.limitSeconds,
    onOutput: show,
    onError: show,
    signal: stopping.signal,
  });
  if ('why' in ended) return ended;
  if (ended.code === LEFT_OUT) return 'left out';
  return ended.code === 0 ? 'passed' : { why: `exit ${ended.code}` };
}

const wanted = process.argv.slice(2);
const failures: { readonly name: string; readonly last: string }[] = [];
/** What needs something that can't be had here: it neither passed nor failed. */
const leftOut: string[] = [];
const chosen = shortRuns.filter(({ script }) => wanted.length === 0 || wanted.includes(script));
if (chosen.length === 0) {
  console.error(
    `Nothing is called that. There are: ${[...new Set(shortRuns.map(({ script }) => script))].join(', ')}`,
  );
  process.exit(2);
}
const isBench = ({ script }: ShortRun): boolean => script.startsWith('bench:');
for (const short of chosen) {
  if (!isBench(short)) await tell(short, (text) => process.stdout.write(text));
}
// In their shortest form benchmarks measure nothing, so two may run at once. What each writes is shown in one piece.
const benches = pLimit(2);
await Promise.all(
  chosen.filter(isBench).map((short) =>
    benches(async () => {
      const chunks: string[] = [];
      await tell(short, (text) => chunks.push(text));
      process.stdout.write(chunks.join(''));
    }),
  ),
);

async function tell(short: ShortRun, show: (text: string) => void): Promise<void> {
  if (stopping.signal.aborted) return;
  show(`-- ${nameOf(short)}\n`);
  const begun = performance.now();
  let written = '';
  const ended = await play(short, (text) => {
    written = (written + text).slice(-20_000);
    show(text);
  });
  const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
  show(`-- ${nameOf(short)}: ${typeof ended === 'string' ? ended : `FAILED (${ended.why})`}, ${seconds} s\n`);
  if (ended === 'left out') leftOut.push(nameOf(short));
  else if (ended !== 'passed')
    failures.push({ name: `${nameOf(short)} (${ended.why})`, last: lastLines(written) });
}
const told = failures.map(({ name, last }) => `failed: ${name}\n${last}`).join('');
process.stdout.write(told);
const counts = process.env['SHORT_RUN_COUNTS'];
if (counts !== undefined) {
  writeFileSync(counts, `${chosen.length - leftOut.length - failures.length} ${failures.length}\n${told}`);
}
console.log(`${chosen.length - leftOut.length - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length === 0 && !stopping.signal.aborted ? 0 : 1);
