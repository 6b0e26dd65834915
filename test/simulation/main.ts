import { parseArgs } from 'node:util';
import { stopTestServers } from '../support/servers/started-servers.js';
import { freshSeed, repeatBy, runApart } from './campaign.js';
import type { RunReport } from './run.js';

/**
 * `npm run simulate -- --seed N --days 30`: runs one seed and says what it found. With `--minutes N` it is a campaign: one
 * fresh seed after the other until the time is over.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    days: { type: 'string', default: '30' },
    users: { type: 'string', default: '3' },
    acts: { type: 'string', default: '60' },
    minutes: { type: 'string' },
    trace: { type: 'string' },
    calm: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const write = (line: string): void => void process.stdout.write(`${line}\n`);
const total = new Map<string, number>();
const reached = new Set<string>();

async function runOne(seed: number): Promise<RunReport> {
  const { trace: traceFile } = values;
  const wanted = {
    ...{ seed, days: Number(values.days), users: Number(values.users), acts: Number(values.acts) },
    isDisturbed: !values.calm,
  };
  write(repeatBy(wanted));
  const report = await runApart({ ...wanted, traceFile }, 3_600_000);
  write(`${report.lines} lines, ${report.hash}, ${report.realMs} ms`);
  write(
    Object.entries(report.counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', '),
  );
  for (const [name, count] of Object.entries(report.counts)) total.set(name, (total.get(name) ?? 0) + count);
  for (const what of report.reached) reached.add(what.replace(/: \d+$/, ''));
  if (values.verbose) for (const line of [...report.errors, ...report.last]) write(line.trimEnd());
  for (const violation of report.violations) write(`VIOLATION ${violation}`);
  if (report.violations.length > 0) process.exitCode = 1;
  return report;
}

try {
  if (values.minutes === undefined) {
    await runOne(values.seed === undefined ? freshSeed() : Number(values.seed));
  } else {
    const endMs = Date.now() + Number(values.minutes) * 60_000;
    let runs = 0;
    for (; Date.now() < endMs; runs += 1) await runOne(freshSeed());
    write(
      `${runs} runs of ${values.days} days: ${[...total].map(([name, count]) => `${name} ${count}`).join(', ')}`,
    );
  }
  if (values.verbose || values.minutes !== undefined) {
    write('Reached:');
    for (const what of [...reached].sort()) write(`  ${what}`);
  }
} finally {
  await stopTestServers();
}
