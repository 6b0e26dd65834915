import { cp, mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { findPostgresUser } from './postgres-home.js';
import { serverPassword, startPostgres, type PostgresOptions, type PostgresServer } from './postgres.js';

export interface StandbyOptions extends PostgresOptions {
  readonly primary: Pick<PostgresServer, 'adminUrl'> & { readonly dataDir: string };
  /** As the primary's `synchronous_standby_names` calls it. */
  readonly name: string;
}

/** What a primary needs so that a standby can be copied from it while it works. */
export const primarySettings = { wal_level: 'replica', wal_keep_size: '1GB', hot_standby: 'on' } as const;

/** Folders whose contents a server makes itself. */
const leftOut = new Set(['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots']);

/** Copies a running primary, as pg_basebackup does, and starts the copy as its standby. */
export async function startStandby(options: StandbyOptions): Promise<PostgresServer> {
  rmSync(options.dataDir, { recursive: true, force: true });
  await copyCluster(options.primary, options.dataDir);
  follow(options.dataDir, options.primary, options.name);
  return startPostgres({ ...options, settings: { ...primarySettings, ...options.settings } });
}

/** Makes a server that is down a standby of a primary, under a name. */
export function follow(dataDir: string, primary: Pick<PostgresServer, 'adminUrl'>, name: string): void {
  // As `alter system` writes it, which can still change it.
  appendFileSync(
    join(dataDir, 'postgresql.auto.conf'),
    `primary_conninfo = '${conninfoOf(primary, name)}'\nsynchronous_standby_names = ''\n`,
  );
  fence(dataDir);
}

function conninfoOf({ adminUrl }: Pick<PostgresServer, 'adminUrl'>, name: string): string {
  const { hostname, port } = new URL(adminUrl);
  return `host=${hostname} port=${port} user=postgres password=${serverPassword} application_name=${name}`;
}

/** Makes a server that is down a standby for ever: whoever starts it, it takes no writes. */
export function fence(dataDir: string): void {
  writeFileSync(join(dataDir, 'standby.signal'), '');
  own(join(dataDir, 'standby.signal'));
}

/** Makes a standby the primary. Resolves when it takes writes. */
export async function promote({ adminUrl }: Pick<PostgresServer, 'adminUrl'>): Promise<void> {
  await asAdmin(adminUrl, (client) => client.query('select pg_promote(wait => true, wait_seconds => 30)'));
}

/** Lets the primary answer a commit only once the standby of this name has it. */
export async function waitForStandby(primary: Pick<PostgresServer, 'adminUrl'>, name: string): Promise<void> {
  await runAsAdmin(
    primary,
    `alter system set synchronous_standby_names = '"${name}"'`,
    'select pg_reload_conf()',
  );
}

/** Runs statements as the superuser, one after the other. */
export async function runAsAdmin(
  { adminUrl }: Pick<PostgresServer, 'adminUrl'>,
  ...sql: string[]
): Promise<void> {
  await asAdmin(adminUrl, async (client) => {
    for (const statement of sql) await client.query(statement);
  });
}

async function copyCluster({ adminUrl, dataDir }: StandbyOptions['primary'], to: string): Promise<void> {
  await asAdmin(adminUrl, async (client) => {
    await client.query(`select pg_backup_start('standby', fast => true)`);
    await cp(dataDir, to, {
      recursive: true,
      preserveTimestamps: true,
      filter: (from) => isCopied(dataDir, from),
    });
    await mkdir(join(to, 'pg_wal'), { recursive: true, mode: 0o700 });
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(wait_for_archive => false)',
    );
    await writeFile(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
  });
  own(to);
}

function isCopied(root: string, from: string): boolean {
  const path = relative(root, from);
  if (/^postmaster\.(pid|opts)$/.test(path) || /^(pgsql_tmp|pg_internal\.init)/.test(basename(path)))
    return false;
  return !leftOut.has(dirname(path));
}

/** Gives a folder to the user that PostgreSQL runs as, and keeps others out. */
function own(path: string): void {
  const user = findPostgresUser();
  if (!existsSync(path)) return;
  if (user) spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, path]);
  spawnSync('chmod', ['-R', 'go=', path]);
}

/** Works with a connection of the superuser. */
export async function asAdmin<T>(adminUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: adminUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
