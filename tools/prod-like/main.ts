import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { Figures } from './figures.js';
import { watchMetering } from './metering-watch.js';
import { readRestarts, restartAll, upgrades } from './restarts.js';
import { startTopology, type Topology } from './topology.js';
import { arrive, rentUntil } from './user.js';
import { judge } from './verdict.js';

/**
 * `npm run test:prod-like`: runs the shape of docker-compose.yml without containers, under load, while each part is
 * restarted in turn. Ends with 1 unless every answer was true and every cent is right.
 */
const users = Number(process.env['PROD_LIKE_USERS'] ?? '20');
const quietMs = Number(process.env['PROD_LIKE_QUIET_SECONDS'] ?? '30') * 1_000;
/**
 * The parts to restart, one after the other; default: all. From the folder of an earlier release that is built, all are
 * upgraded to this one instead.
 */
const from = process.env['PROD_LIKE_FROM'];
const restarts = from === undefined ? readRestarts(process.env['PROD_LIKE_RESTARTS']) : upgrades;
/** From the kill of a primary to the first served change. */
const failoverMaxMs = 15_000;
const startedAt = Date.now();
const log = (line: string): void => {
  console.log(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${line}`);
};

async function play(topology: Topology, db: Database): Promise<string[]> {
  const figures = new Figures();
  const accounts = await Promise.all(
    Array.from({ length: users }, (_, index) => arrive(index, topology.urls, figures)),
  );
  log(`${users} users have signed in and paid`);
  const metering = watchMetering(db, () => figures.restarting);
  const end = { at: Number.POSITIVE_INFINITY };
  const killedAt: number[] = [];
  const renting = Promise.all(accounts.map((account, index) => rentUntil(account, index, end)));
  const restarting = (async () => {
    await sleep(quietMs);
    figures.restarting = true;
    killedAt.push(...(await restartAll(topology, restarts, log)));
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
  const faults = [...(await judge(topology, db, accounts))];
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
    `${users} users, ${rentals} rentals (${failed} got no machine and cost nothing), ${restarts.length} restarts, ${faults.length} faults, ` +
      `${((Date.now() - startedAt) / 1000).toFixed(0)} s in all`,
  );
  return faults;
}

/** @returns the faults */
async function run(folder: string): Promise<string[]> {
  const topology = await startTopology(folder, process.env, log, from);
  const db = openDatabase(topology.ownerUrl, 4, 'prod-like');
  try {
    return await play(topology, db);
  } finally {
    await db.destroy();
    await topology.stop();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-prod-like-'));
// When root runs this, the postgres user must reach its own folder below.
chmodSync(folder, 0o711);
try {
  if (!existsSync('dist/api/index.js')) throw new Error('Nothing is built: run "npm run test:prod-like".');
  const faults = await run(folder);
  for (const fault of faults) console.log(`FAULT: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
} catch (error) {
  process.exitCode = 1;
  console.error(error instanceof Error ? error.stack : error);
}
if (process.exitCode === 1) console.error(`The logs are in ${join(folder, 'logs')}.`);
else rmSync(folder, { recursive: true, force: true });
// A request that was given up may still hold its connection.
process.exit();
