import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { PlantedCopy } from '../../../tools/mutations/planted-copy.js';
import { sampleOf } from '../../../tools/mutations/sample.js';
import { stopTestServers } from '../../support/servers/started-servers.js';
import { repeatBy, runApart, type Wanted } from '../campaign.js';
import { mutants, type Mutant } from './plan.js';

/**
 * `npm run simulate:mutants`: plants one fault at a time in a copy of the sources, and runs seeds until the oracle finds it,
 * for five minutes at most. `-- 2` plants two only, from another number on with each commit, and `-- 2 --from 17` the two from
 * the 17th on, `--only TEXT` those whose words have it, `--days 0.01` lets each run live so long. It ends with 1 when a fault
 * is not found.
 */
const { values, positionals } = parseArgs({
  options: {
    from: { type: 'string' },
    only: { type: 'string', default: '' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    minutes: { type: 'string', default: '5' },
    days: { type: 'string' },
  },
  allowPositionals: true,
});

const FIRST_SEED = 11;
const calm = { days: 0.05, users: 3, acts: 16, isDisturbed: false } as const;
/** Dense, so that crashes meet openings. */
const disturbed = { days: 0.02, users: 3, acts: 40, isDisturbed: true } as const;
/** Real milliseconds of one run. */
const RUN_LIMIT_MS = 600_000;

const waiting = sampleOf(mutants, positionals[0], values.from).filter(({ one: { what, file } }) =>
  `${what} ${file}`.includes(values.only),
);
const planned = waiting.length;
let missed = 0;
const clean = new Map<string, Promise<boolean>>();

await Promise.all(Array.from({ length: Number(values.jobs) }, work));
await stopTestServers();
process.stdout.write(`mutants: ${planned} planted, ${missed} not found\n`);
process.exit(missed === 0 ? 0 : 1);

async function work(): Promise<void> {
  const copy = new PlantedCopy();
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { number, one: mutant } = next;
    const begun = Date.now();
    const found = await find(copy, mutant);
    if (found === undefined) missed += 1;
    const seconds = Math.round((Date.now() - begun) / 1_000);
    process.stdout.write(
      `${found === undefined ? 'NOT FOUND' : 'found'} in ${seconds} s: ${number}, ${mutant.what}${found ?? ''}\n`,
    );
  }
}

/** @returns the seed that found it, and the oracle's words */
function find(copy: PlantedCopy, mutant: Mutant): Promise<string | undefined> {
  const endMs = Date.now() + Number(values.minutes) * 60_000;
  return copy.with(mutant, async () => {
    for (let seed = FIRST_SEED; Date.now() < endMs; seed += 1) {
      const aim = mutant.aim === undefined ? {} : { aim: mutant.aim };
      const shape = mutant.isDisturbed === true ? disturbed : calm;
      const wanted = { ...shape, ...(values.days && { days: Number(values.days) }), ...aim, seed };
      const word = await judge(copy, wanted);
      if (word !== undefined && (await isClean(wanted))) return ` (${repeatBy(wanted)}: ${word})`;
    }
    return undefined;
  });
}

/** Whether a run of the sources as they are reports that the oracle finds nothing: each is run once. */
function isClean(wanted: Wanted): Promise<boolean> {
  const command = repeatBy(wanted);
  const known =
    clean.get(command) ??
    runApart(wanted, RUN_LIMIT_MS).then(
      ({ violations }) => violations.length === 0,
      () => false,
    );
  clean.set(command, known);
  return known;
}

/** @returns the first violation of a run; a run without a report, such as one that takes too long, has found nothing */
async function judge(copy: PlantedCopy, wanted: Wanted): Promise<string | undefined> {
  try {
    const { violations } = await runApart(wanted, RUN_LIMIT_MS, copy.folder);
    return violations[0];
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message.slice(0, 300) : String(error)}\n`);
    return undefined;
  }
}
