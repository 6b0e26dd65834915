import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { prepareHomesDir } from '../provider/pod-home.js';
import { choosePostgresFolder } from '../servers/postgres-home.js';
import { findPostgresProcess } from '../servers/postgres.js';
import { findStackLock } from './lock.js';
import type { StackSettings } from './settings.js';

/** All files of a stack and its parts in the data folder. Nothing else in it is ever removed. */
const entries = [
  'postgres',
  'postgres-binaries',
  'temporal',
  'provider',
  'processor',
  'mail',
  'demo',
  'logs',
  'secrets.json',
  'stack.json',
  'ops.json',
];

/**
 * Removes a stopped stack's files from the disk. A database or a Temporal server of your own (DATABASE_URL,
 * TEMPORAL_ADDRESS) is left alone.
 * @returns the paths that were removed
 * @throws Error while a stack, or the database of a dead one, still runs
 */
export function removeStackData(settings: Pick<StackSettings, 'dataDir'>): string[] {
  const { dataDir } = settings;
  const lock = findStackLock(dataDir);
  if (lock) {
    throw new Error(
      `A stack runs on this data (process ${lock.pid}, API at ${lock.urls.api}). Stop it first: Ctrl-C in its ` +
        `terminal, or "kill ${lock.pid}".`,
    );
  }
  const postgresDir = choosePostgresFolder(dataDir);
  const pid = findPostgresProcess(postgresDir);
  if (pid !== undefined) {
    throw new Error(
      `PostgreSQL (process ${pid}) still runs on ${postgresDir}. Run "kill -INT ${pid}" first.`,
    );
  }
  const folders = new Set([dataDir, dirname(postgresDir)]);
  const podsDir = existsSync(join(dataDir, 'provider'))
    ? prepareHomesDir(join(dataDir, 'provider'))
    : undefined;
  const paths = [...folders].flatMap((folder) => entries.map((entry) => join(folder, entry)));
  if (podsDir?.startsWith(dataDir) === false) paths.push(podsDir);
  const removed = paths.filter((path) => existsSync(path));
  for (const path of removed) rmSync(path, { recursive: true, force: true });
  for (const folder of folders) {
    if (readdirSync(folder).length === 0) rmdirSync(folder);
  }
  return removed;
}
