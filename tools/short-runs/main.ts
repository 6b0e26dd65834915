import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
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

/**
 * Runs one in a separate process group, so that it ends with all processes that it started.
 * @param show takes what it writes
 * @returns why it failed
 */
async function play(short: ShortRun, show: (text: string) => void): Promise<string | undefined> {
  const child = spawn('npm', ['run', '--silent', short.script, '--', ...short.args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...short.env },
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', show);
  const ended = new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? undefined : `exit ${code ?? signal ?? ''}`));
  });
  const given = new AbortController();
  const limit = sleep(short.limitSeconds * 1_000, undefined, {
    signal: AbortSignal.any([given.signal, stopping.signal]),
  }).then(
    () => `it did not end within ${short.limitSeconds} s`,
    () => (given.signal.aborted ? undefined : 'given up'),
  );
  const first = await Promise.race([ended, limit.then((why) => why ?? ended)]);
  given.abort();
  await endGroup(child.pid, ended);
  return first;
}

/** Ends the rest of the group: asks it to end, then kills it. */
async function endGroup(pid: number | undefined, ended: Promise<unknown>): Promise<void> {
  if (pid === undefined) return;
  if (!signalGroup(pid, 'SIGTERM')) return;
  await Promise.race([ended, sleep(15_000, undefined, { ref: false })]);
  signalGroup(pid, 'SIGKILL');
}

/** @returns whether any process of the group was still there */
function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

const wanted = process.argv.slice(2);
const failures: string[] = [];
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
  const why = await play(short, show);
  const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
  show(`-- ${nameOf(short)}: ${why === undefined ? 'passed' : `FAILED (${why})`}, ${seconds} s\n`);
  if (why !== undefined) failures.push(`${nameOf(short)} (${why})`);
}
const told = failures.map((name) => `failed: ${name}\n`).join('');
process.stdout.write(told);
const counts = process.env['SHORT_RUN_COUNTS'];
if (counts !== undefined) {
  writeFileSync(counts, `${chosen.length - failures.length} ${failures.length}\n${told}`);
}
console.log(`${chosen.length - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length === 0 && !stopping.signal.aborted ? 0 : 1);
