import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { stopTestServers } from '../support/servers/started-servers.js';
import { freshSeed, repeatBy, runApart, seedsFrom, type Wanted } from './campaign.js';
import { ManyRuns, USUALLY_TWICE } from './many-runs.js';
import { Reached } from './reach/reach.js';
import { shrink } from './shrink.js';

/**
 * `npm run simulate -- --seed N --days 30`: runs one seed and says what it found; with `--shrink` it looks for the shortest
 * run that still finds something. `--aim openRental` strikes at the statements and commits of one activity or request. With
 * `--minutes N` it is a campaign: fresh seeds of several shapes, or those that follow from `--seed`, as many side by side as
 * there are cores (`--jobs`), until the time is over; one seed in ten (`--twice-each`) is run twice and must do the same. It
 * ends with 1 when a rule was broken.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    days: { type: 'string', default: '30' },
    users: { type: 'string', default: '3' },
    acts: { type: 'string', default: '60' },
    without: { type: 'string', default: '' },
    aim: { type: 'string' },
    minutes: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    'twice-each': { type: 'string', default: String(USUALLY_TWICE) },
    trace: { type: 'string' },
    calm: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
/** Real milliseconds after which a run hangs. */
const RUN_LIMIT_MS = 3_600_000;
const write = (line: string): void => void process.stdout.write(`${line}\n`);

async function runOne(wanted: Wanted): Promise<boolean> {
  write(repeatBy(wanted));
  const report = await runApart({ ...wanted, traceFile: values.trace }, RUN_LIMIT_MS);
  write(`${report.lines} lines, ${report.hash}, ${report.realMs} ms`);
  const counts = Object.entries(report.counts).map(([name, count]) => `${name} ${count}`);
  write(counts.join(', '));
  if (values.verbose) {
    for (const line of [...report.errors, ...report.last]) write(line.trimEnd());
    const reached = new Reached();
    reached.add(report.reach);
    for (const line of reached.lines({ isWhole: true })) write(line);
  }
  for (const violation of report.violations) write(`VIOLATION ${violation}`);
  return report.violations.length === 0;
}

async function runMany(minutes: number): Promise<boolean> {
  const runs = new ManyRuns(write, Number(values['twice-each']));
  const draw = values.seed === undefined ? freshSeed : seedsFrom(Number(values.seed));
  const isClean = await runs.run({ minutes, jobs: Number(values.jobs), draw });
  for (const line of runs.reached.lines({ isWhole: values.verbose })) write(line);
  return isClean;
}

async function main(): Promise<boolean> {
  if (values.minutes !== undefined) return runMany(Number(values.minutes));
  const wanted = {
    seed: values.seed === undefined ? freshSeed() : Number(values.seed),
    ...{ days: Number(values.days), users: Number(values.users), acts: Number(values.acts) },
    ...{
      isDisturbed: !values.calm,
      ...(values.aim === undefined ? {} : { aim: values.aim }),
      without: values.without.split(',').filter((one) => one !== ''),
    },
  };
  if (!values.shrink) return runOne(wanted);
  const { shortest, violation } = await shrink(wanted, write);
  write(violation === undefined ? 'nothing is broken' : `${violation}\n${repeatBy(shortest)}`);
  return violation === undefined;
}

try {
  if (!(await main())) process.exitCode = 1;
} finally {
  await stopTestServers();
}
