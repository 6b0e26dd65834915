import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { argsToRun, type ProgramSources } from '../../lab/programs/built.js';
import type { PostgresServer } from '../../lab/servers/postgres.js';
import { fillDatabase } from '../support/servers/database.js';
import { startPostgresApart } from '../support/servers/servers.js';
import { Chance } from './kernel/chance.js';
import type { KillOptions, KillReport } from './kills/run-kills.js';
import type { RunOptions, RunReport } from './run.js';

/** Seeds are below this. */
const SEEDS = 2 ** 31;
const here = fileURLToPath(new URL('../..', import.meta.url));
const tsconfig = 'tsconfig.simulation.json';
/** Each run is a process of its own, which reads a kept build in a fraction of the time that the sources take. */
const programs: ProgramSources = {
  projectDir: here,
  entries: ['test/simulation/one-run.ts', 'test/simulation/kills/one-run.ts'],
  cacheName: 'gpu-rental-simulation',
  tsconfig,
};

/** The choices of a run, without its database. */
export type Wanted = Omit<RunOptions, 'databaseUrl' | 'controlUrl' | 'traceFile'> &
  Partial<Pick<RunOptions, 'traceFile'>>;

/** A short run, as the tests take it: its seed alone differs. */
export const shortRun = { days: 0.02, users: 2, acts: 8, isDisturbed: true } as const;

/**
 * Runs a seed in a process of its own.
 * @param limitMs real milliseconds after which it counts as hung
 * @param root the folder of the sources; default: these
 * @throws Error when it ends without a report
 */
export function runApart(wanted: Wanted, limitMs: number, root = here): Promise<RunReport> {
  return programApart<RunReport>('test/simulation/one-run.ts', wanted, limitMs, root);
}

/** Kills the worker in each phase of a rental at upstreams of one dialect, in a process of its own. */
export function killApart(
  wanted: Pick<KillOptions, 'seed' | 'dialect'>,
  limitMs: number,
): Promise<KillReport> {
  return programApart<KillReport>('test/simulation/kills/one-run.ts', wanted, limitMs, here);
}

/**
 * Runs a program of the simulation on a database server of its own: beside the transactions of others the rows of a page
 * come in another order.
 */
async function programApart<Report>(
  program: string,
  wanted: { readonly seed: number },
  limitMs: number,
  root: string,
): Promise<Report> {
  const server = await startPostgresApart();
  try {
    await fillDatabase(server.url);
    const controlUrl = controlUrlOf(server);
    await makeRepeatable(controlUrl);
    // A copy of the sources is other after each run.
    const args = root === here ? await argsToRun(program, programs) : ['--import', 'tsx', program];
    const child = spawn(
      process.execPath,
      [...args, JSON.stringify({ ...wanted, databaseUrl: server.url, controlUrl })],
      {
        cwd: root,
        env: { ...process.env, TSX_TSCONFIG_PATH: tsconfig, TZ: 'UTC', NODE_OPTIONS: '' },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: limitMs,
        killSignal: 'SIGKILL',
      },
    );
    const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const line = said.trim().split('\n').at(-1) ?? '';
    if (!line.startsWith('{')) throw new Error(`seed ${wanted.seed} ended without a report: ${complained}`);
    return JSON.parse(line) as Report;
  } finally {
    await server.stop();
  }
}

/** The product's database as its server's own administrator sees it, who may end any connection. */
function controlUrlOf({ url, adminUrl }: PostgresServer): string {
  const control = new URL(adminUrl);
  control.pathname = new URL(url).pathname;
  return control.toString();
}

/** Lets the server do nothing of its own in a database that would differ from run to run. */
async function makeRepeatable(controlUrl: string): Promise<void> {
  const name = new URL(controlUrl).pathname.slice(1);
  const client = new pg.Client({ connectionString: controlUrl });
  await client.connect();
  try {
    await client.query(`alter database ${name} set deadlock_timeout = '1h'`);
    await client.query(`alter database ${name} set max_parallel_workers_per_gather = 0`);
    await client.query(`do $$ declare one text; begin
      for one in select oid::regclass from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
        execute format('alter table %s set (autovacuum_enabled = false)', one);
      end loop; end $$`);
  } finally {
    await client.end();
  }
}

/**
 * Makes a seed of the commit that is checked out: another one with each change, and the same one when a change is tested
 * again, so that a failure comes back and what lands was seen.
 */
export function seedOfCommit(): number {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: here, encoding: 'utf8' });
  // Sources without their history get a seed each time.
  return status === 0 ? Number.parseInt(stdout.slice(0, 8), 16) % SEEDS : freshSeed();
}

/** Draws a seed that nobody chose. */
export function freshSeed(): number {
  return randomBytes(4).readUInt32LE() % SEEDS;
}

/** Draws the same seeds each time, in one order. */
export function seedsFrom(first: number): () => number {
  const chance = new Chance(first, 'campaign');
  return () => chance.below(SEEDS);
}

/** The command that repeats a run. */
export function repeatBy({ seed, days, users, acts, isDisturbed, aim, without = [] }: Wanted): string {
  const calm = isDisturbed ? '' : ' --calm';
  const aimed = aim === undefined ? '' : ` --aim '${aim}'`;
  const off = without.length === 0 ? '' : ` --without ${without.join(',')}`;
  return `npm run simulate -- --seed ${seed} --days ${days} --users ${users} --acts ${acts}${calm}${aimed}${off}`;
}
