import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LEFT_OUT } from '../../lab/servers/script-run.js';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { build, hasCommit, takeOut } from '../releases/take-out.js';
import { Figures } from './figures.js';
import { watchMetering } from './metering-watch.js';
import { probeChanges } from './probe.js';
import { readPlays, restartAll, type Play } from './restarts.js';
import { startTopology, type Topology } from './topology.js';
import { arrive, rentUntil } from './user.js';
import { judge } from './verdict.js';

/**
 * `npm run test:prod-like`: runs the shape of docker-compose.yml without containers, under load, while each part is
 * restarted in turn. Ends with 1 unless every answer was true and every cent is right.
 */
const users = Number(process.env['PROD_LIKE_USERS'] ?? '20');
const secondsOf = (name: string, otherwise: number): number =>
  Number(process.env[`PROD_LIKE_${name}_SECONDS`] ?? otherwise) * 1_000;
const quietMs = secondsOf('QUIET', 30);
/** How long each part works before the next one is restarted. */
const pauseMs = secondsOf('PAUSE', 10);
const plays = readPlays(process.env['PROD_LIKE_RESTARTS'], process.env['PROD_LIKE_FROM']);
/** From the kill of a primary to the first served change. */
const failoverMaxMs = 15_000;
const startedAt = Date.now();
const log = (line: string): void => {
  console.log(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${line}`);
};

async function play(topology: Topology, db: Database, { restarts, from }: Play): Promise<string[]> {
  const figures = new Figures();
  const accounts = await Promise.all(
    Array.from({ length: users }, (_, index) => arrive(index, topology.urls, figures)),
  );
  log(`${users} users have signed in and paid`);
  const metering = watchMetering(db, () => figures.restarting);
  const end = { at: Number.POSITIVE_INFINITY };
  const killedAt: number[] = [];
  const load = { end, scripts: from === undefined };
  const renting = Promise.all(accounts.map((account, index) => rentUntil(account, index, load)));
  const restarting = (async () => {
    await sleep(quietMs);
    figures.restarting = true;
    killedAt.push(
      ...(await restartAll(topology, restarts, {
        log,
        pauseMs,
        probe: () => probeChanges(accounts, figures),
      })),
    );
    figures.restarting = false;
    await sleep(quietMs / 2);
    end.at = Date.now();
  })();
  // The first failure ends the wait; the other part ends with the processes.
  await Promise.all([renting, restarting]);
  const gaps = await metering.stop();
  log('the users are done');
  const failed = accounts.reduce((sum, account) => sum + account.failed.size, 0);
  const rentals = accounts.reduce((sum, account) => sum + account.rentals.length, 0);
  const changes = accounts.reduce((sum, account) => sum + account.names.length, 0);
  const faults = await judge(topology, db, accounts);
  // A worker traces what a request began, and the APIs of a release before 0.3 trace nothing.
  if (from === undefined)
    faults.push(...topology.collector.missing().map((name) => `no trace came from ${name}`));
  for (const at of killedAt) {
    const ms = figures.firstChangeAfter(at);
    console.log(`from the kill of the primary to the first served change: ${(ms / 1_000).toFixed(1)} s`);
    if (ms > failoverMaxMs) faults.push(`a failover took ${Math.round(ms)} ms`);
  }
  for (const line of figures.lines()) console.log(line);
  console.log(
    `longest time without a tick: ${gaps.quietMs} ms quiet, ${gaps.restartingMs} ms while parts were restarted`,
  );
  console.log(
    `${users} users, ${rentals} rentals (${failed} got no machine and cost nothing), ${changes} changes, ${restarts.length} restarts, ${faults.length} faults, ` +
      `${((Date.now() - startedAt) / 1000).toFixed(0)} s in all`,
  );
  return faults;
}

/** @param folder of the data. @returns the faults */
async function run(folder: string, asked: Play): Promise<string[]> {
  const release = asked.from === undefined ? undefined : join(folder, 'release');
  if (asked.from !== undefined && release !== undefined) {
    mkdirSync(release);
    takeOut(asked.from, release);
    build(release);
    log(`${asked.from} is built, to be upgraded`);
  }
  const topology = await startTopology(folder, process.env, log, release);
  const db = openDatabase(topology.ownerUrl, 4, 'prod-like');
  try {
    return await play(topology, db, asked);
  } finally {
    await db.destroy();
    await topology.stop();
  }
}

/** @returns whether all was well; the logs stay where it was not */
async function runIn(folder: string, asked: Play): Promise<boolean> {
  // When root runs this, the postgres user must reach its own folder below.
  chmodSync(folder, 0o711);
  try {
    const faults = await run(folder, asked);
    for (const fault of faults) console.log(`FAULT: ${fault}`);
    if (faults.length === 0) rmSync(folder, { recursive: true, force: true });
    else console.error(`The logs are in ${join(folder, 'logs')}.`);
    return faults.length === 0;
  } catch (error) {
    console.error(error instanceof Error ? error.stack : error);
    console.error(`The logs are in ${join(folder, 'logs')}.`);
    return false;
  }
}

if (!existsSync('dist/api/index.js')) throw new Error('Nothing is built: run "npm run test:prod-like".');
const there = plays.filter(({ from }) => from === undefined || hasCommit(from));
for (const { from } of plays.filter((each) => !there.includes(each))) {
  console.log(`left out: the upgrade from ${from}, because this clone does not have that commit`);
}
if (there.length === 0) process.exitCode = LEFT_OUT;
for (const each of there) {
  if (!(await runIn(mkdtempSync(join(tmpdir(), 'gpu-rental-prod-like-')), each))) process.exitCode = 1;
}
// A request that was given up may still hold its connection.
process.exit();
