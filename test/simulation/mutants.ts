import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stopTestServers } from '../support/servers/started-servers.js';
import { repeatBy, runApart } from './campaign.js';

/**
 * `npm run simulate:mutants`: plants one fault at a time in a copy of the sources, and runs seeds until the oracle finds it.
 * `-- 2` plants the first two only. It ends with 1 when a fault is not found.
 */
interface Mutant {
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  readonly what: string;
}

const mutants: readonly Mutant[] = [
  {
    file: 'money/payments/credit.ts',
    from: 'availableCents: payment.amountReceivedCents,',
    to: 'availableCents: 2 * payment.amountReceivedCents,',
    what: 'a payment is credited twofold',
  },
  {
    file: 'money/rentals/settle.ts',
    from: '  await moveHold(trx, wallet, -rental.hold_cents);\n  const reason',
    to: '  const reason',
    what: 'the hold of a rental that never ran is not given back',
  },
  {
    file: 'money/metering/meter.ts',
    from: 'least((select ms from clock), m.limit_ms, s.requested_ms) as until_ms',
    to: 'least((select ms from clock), m.limit_ms, s.requested_ms + 1000) as until_ms',
    what: 'a stop ends the billing a second later',
  },
  {
    file: 'domain/metering/metering.ts',
    from: 'Number((2n * BigInt(pricePerHourCents) * elapsed + MS_PER_HOUR) / (2n * MS_PER_HOUR))',
    to: 'Number((2n * BigInt(pricePerHourCents) * elapsed) / (2n * MS_PER_HOUR))',
    what: 'the final bill is rounded down',
  },
];

const SEEDS = [11, 12, 13, 14];
const run = { days: 0.05, users: 3, acts: 16, isDisturbed: false } as const;
const copied = [
  'activities',
  'adapters',
  'api',
  'config',
  'config.ts',
  'domain',
  'lab',
  'migrations',
  'money',
  'test',
  'worker',
  'workflows',
];
const settings = ['package.json', 'tsconfig.json', 'tsconfig.simulation.json'];

const root = path.resolve(import.meta.dirname, '../..');
const copy = mkdtempSync(path.join(tmpdir(), 'gpu-rental-mutants-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const name of [...copied, ...settings]) {
  cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
}
symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));

let missed = 0;
const asked = Number(process.argv[2] ?? mutants.length);
for (const mutant of mutants.slice(0, asked)) {
  const found = await find(mutant);
  if (found === undefined) missed += 1;
  process.stdout.write(`${found === undefined ? 'NOT FOUND' : 'found'}: ${mutant.what}${found ?? ''}\n`);
}
await stopTestServers();
process.exit(missed === 0 ? 0 : 1);

/** @returns the seed that found it, and the oracle's words */
async function find({ file, from, to }: Mutant): Promise<string | undefined> {
  const target = path.join(copy, file);
  const source = readFileSync(target, 'utf8');
  if (source.split(from).length !== 2) throw new Error(`this does not stand in ${file} once: ${from}`);
  writeFileSync(
    target,
    source.replace(from, () => to),
  );
  try {
    for (const seed of SEEDS) {
      const { violations } = await runApart({ ...run, seed }, 300_000, copy);
      if (violations.length > 0) return ` (${repeatBy({ ...run, seed })}: ${violations[0] ?? ''})`;
    }
    return undefined;
  } finally {
    writeFileSync(target, source);
  }
}
