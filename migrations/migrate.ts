import { setTimeout as sleep } from 'node:timers/promises';
import knexFactory, { type Knex } from 'knex';
import { primaryOf, type HostSettings } from '../adapters/postgres/address.js';
import { refuseOldServer } from '../adapters/postgres/fitness.js';
import { errorCodeOf, lockNotAvailable } from '../adapters/postgres/sql-state.js';
import { buildIndexes, isConcurrent } from './concurrently.js';
import { steps as allSteps, type Step } from './steps.js';
import { escapeSql, findBeginning, MigrationRefused, stepsOf02 } from './takeover.js';

export interface MigrateOptions {
  /** The baseline and what follows it; default: all that this release has. */
  readonly steps?: readonly Step[];
  /** Takes a line about what a person who waits may want to know. */
  readonly say?: (line: string) => void;
  /** For how long a step is tried whose tables others hold, in milliseconds. */
  readonly patienceMs?: number;
}

/**
 * What a step waits for one lock, in milliseconds. Whoever comes later waits behind it, so it is shorter than
 * PostgreSQL's `deadlock_timeout` (1 s) and than the limits of the service: where both wait for each other, the step gives
 * way, and is tried again.
 */
const lockMs = 500;
const defaultPatienceMs = 300_000;

/** A name that nobody resolves for the moment (getaddrinfo), as happens on a busy machine. */
const unresolved = 'EAI_AGAIN';

/** SQLSTATE deadlock_detected and serialization_failure, beside a wait for a lock that ended. */
const passing: readonly (string | undefined)[] = [lockNotAvailable, '40P01', '40001', unresolved];

/** Any number: it holds up only other migrations that make the table of steps. */
const tableOfSteps = 4_907_135;

/**
 * Brings a database to the newest schema, each step in a transaction of its own. A step that waits for others is tried
 * again. Several processes may call it at once: one takes a step, and the others wait for it.
 * @returns the names of the steps that were taken now
 * @throws DatabaseUnfit where the server is older than PostgreSQL 17
 * @throws MigrationRefused for a database that this release does not go on with, and for a step that failed or found no
 *   moment: nothing of that step stays, and those before it do
 */
export async function migrateToLatest(databaseUrl: string, options: MigrateOptions = {}): Promise<string[]> {
  const host = await primaryOf(databaseUrl);
  const knex = knexFactory({
    client: 'pg',
    connection: { ...host, application_name: 'gpu-rental-migrate' },
    pool: { min: 0, max: 2 },
    compileSqlOnError: false,
    // Each failure is thrown, and told once.
    log: { warn: ignore, error: ignore, debug: ignore, deprecate: ignore },
  });
  try {
    const { rows } = await knex.raw<{ rows: { version: number }[] }>(
      `select current_setting('server_version_num')::int as version`,
    );
    refuseOldServer(rows[0]?.version ?? 0);
    return await takeSteps(knex, host, options);
  } finally {
    await knex.destroy();
  }
}

const ignore = (): void => undefined;

async function takeSteps(knex: Knex, host: HostSettings, options: MigrateOptions): Promise<string[]> {
  const { steps = allSteps, say = ignore, patienceMs = defaultPatienceMs } = options;
  const configUntil = (count: number): Knex.MigratorConfig => ({
    migrationSource: sourceOf(steps, count, say),
    // The list of a database of 0.2 has the names that the baseline stands for.
    disableMigrationsListValidation: true,
  });
  const taken: string[] = [];
  for (;;) {
    const names = await readTaken(knex, configUntil(steps.length));
    const index = steps.findIndex(({ name }) => !names.includes(name));
    const next = steps[index];
    if (!next) {
      const newer = names.filter((name) => !isKnown(name, steps));
      if (newer.length > 0)
        say(`The schema is newer than this release, which works on it: ${newer.join(', ')}`);
      return taken;
    }
    // Nothing was taken where another process did it meanwhile.
    const [, now] = await tryPatiently(next, { patienceMs, say }, async () => {
      if (isConcurrent(next)) await refusing(next, () => buildIndexes(host, next, patienceMs));
      return knex.migrate.up(configUntil(index + 1)) as Promise<[number, string[]]>;
    });
    taken.push(...now);
  }
}

function isKnown(name: string, steps: readonly Step[]): boolean {
  return stepsOf02.includes(name) || steps.some((step) => step.name === name);
}

/** Reads the steps that a database has. Makes the table for them, one process at a time. */
async function readTaken(knex: Knex, config: Knex.MigratorConfig): Promise<string[]> {
  return knex.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(?)', [tableOfSteps]);
    const [completed] = (await trx.migrate.list(config)) as [{ name: string }[]];
    return completed.map(({ name }) => name);
  });
}

/** The first steps: what another process took meanwhile is never the step after them. */
function sourceOf(
  steps: readonly Step[],
  count: number,
  say: (line: string) => void,
): Knex.MigrationSource<Step> {
  return {
    getMigrations: () => Promise.resolve(steps.slice(0, count)),
    getMigrationName: ({ name }) => name,
    getMigration: (step) =>
      Promise.resolve({
        up: (trx: Knex) => take(trx, step, steps, say),
        down: () =>
          Promise.reject(new Error('Migrations go forward only: write a new one that mends the schema.')),
      }),
  };
}

/** Takes one step, in the transaction in which knex writes down that it was taken. */
async function take(
  trx: Knex,
  step: Step,
  steps: readonly Step[],
  say: (line: string) => void,
): Promise<void> {
  await trx.raw(`set local lock_timeout = ${lockMs}`);
  if (step === steps[0]) {
    const taken = (await trx('knex_migrations').orderBy('id').pluck('name')) as string[];
    const beginning = await findBeginning(trx, steps, taken);
    if (beginning === 'release 0.2') {
      say('The schema is that of release 0.2. The baseline takes it over, and changes nothing.');
      return;
    }
  }
  // Its indexes are there.
  if (isConcurrent(step)) return;
  await refusing(step, () => trx.raw(escapeSql(step.sql)));
}

async function refusing(step: Step, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (passing.includes(errorCodeOf(error))) throw error;
    throw new MigrationRefused(`The step ${step.name} failed, and ${leftOf(step)}: ${wordsOf(error, step)}`, {
      cause: error,
    });
  }
}

/** What a step that was not taken leaves. */
function leftOf(step: Step): string {
  return isConcurrent(step)
    ? 'an index that it left unfinished is built anew by the next try'
    : 'nothing of it stays';
}

/** The server's words, without the statement that knex puts before them, and the line of the file. */
function wordsOf(error: unknown, { name, sql }: Step): string {
  const message = error instanceof Error ? error.message : String(error);
  const said = message.startsWith(`${sql} - `) ? message.slice(sql.length + 3) : message;
  const position = error instanceof Error && 'position' in error ? Number(error.position) : Number.NaN;
  if (Number.isNaN(position)) return said;
  return `${said} (${name}.sql, line ${sql.slice(0, position).split('\n').length})`;
}

interface Patience {
  readonly patienceMs: number;
  readonly say: (line: string) => void;
}

async function tryPatiently(
  step: Step,
  { patienceMs, say }: Patience,
  work: () => Promise<[number, string[]]>,
): Promise<[number, string[]]> {
  const deadline = performance.now() + patienceMs;
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const code = errorCodeOf(error);
      if (!passing.includes(code)) throw error;
      if (performance.now() > deadline) {
        if (code === unresolved) throw error;
        throw new MigrationRefused(
          `The step ${step.name} found no moment in which nobody else held what it changes, in ${tries} tries; ${leftOf(step)}. See who does: select pid, application_name, xact_start, query from pg_stat_activity where xact_start is not null. With a large fleet: ops pause metering and ops pause creates, migrate, ops resume both.`,
          { cause: error },
        );
      }
      if (tries === 1)
        say(
          `The step ${step.name} waits: ${code === unresolved ? 'the database’s name can’t be resolved' : 'others hold what it changes'}. It is tried again until it finds a moment.`,
        );
      // Others may go on in between.
      await sleep(250 + Math.random() * 750);
    }
  }
}
