import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, type PostgresServer } from '../../../lab/servers/postgres.js';
import {
  asAdmin,
  fence,
  primarySettings,
  promote,
  runAsAdmin,
  startStandby,
  waitForStandby,
} from '../../../lab/servers/standby.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { until } from '../until.js';
import { fillDatabase } from './database.js';

/** A primary and its standby: two servers of their own, whose databases have the schema. */
export interface Pair {
  /** Of both hosts, as DATABASE_URL has it. */
  readonly url: string;
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** Lets the standby get nothing any more, from here on: exactly what comes after is lost with the primary. */
  cutOff(): Promise<void>;
  /** Waits until the standby has all that the primary has. */
  caughtUp(): Promise<void>;
  /** Kills the primary as a power failure does, makes sure that it never takes writes again, and promotes the standby. */
  failOver(): Promise<void>;
  /** Starts the old primary again, as somebody might who does not know. */
  reviveOld(): Promise<PostgresServer>;
  stop(): Promise<void>;
}

/** @param synchronous commits wait until the standby has them */
export async function startPair({ synchronous }: { readonly synchronous: boolean }): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), 'pair-test-'));
  chmodSync(folder, 0o755);
  const [firstPort = 0, secondPort = 0] = await findFreePorts(2);
  const log = (): void => undefined;
  const planOf = (name: string, port: number) => ({
    ...{ port, log, dataDir: join(folder, name, 'data') },
    logFile: join(folder, `${name}.log`),
    binDir: process.env['TEST_POSTGRES_BIN'],
  });
  const first = { ...planOf('first', firstPort), settings: primarySettings };
  const servers: PostgresServer[] = [];
  const stop = async (): Promise<void> => {
    for (let server = servers.pop(); server !== undefined; server = servers.pop()) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const primary = await startPostgres(first);
    servers.push(primary);
    await fillDatabase(primary.url);
    const standby = await startStandby({
      ...planOf('second', secondPort),
      ...{ primary: { ...primary, dataDir: first.dataDir }, name: 'second' },
    });
    servers.push(standby);
    if (synchronous) await waitForStandby(primary, 'second');
    const { host } = new URL(primary.url);
    return {
      ...{ primary, standby, stop },
      url: primary.url.replace(host, `${host},127.0.0.1:${secondPort}`),
      async cutOff() {
        await caughtUp(primary);
        await runAsAdmin(standby, `alter system set primary_conninfo = ''`, 'select pg_reload_conf()');
        await until('the standby gets nothing any more', async () => {
          const [row] = await rowsOf(primary, 'select count(*)::int as n from pg_stat_replication');
          return row?.['n'] === 0;
        });
      },
      caughtUp: () => caughtUp(primary),
      async failOver() {
        primary.kill();
        await primary.exited;
        fence(first.dataDir);
        await promote(standby);
      },
      async reviveOld() {
        const old = await startPostgres(first);
        servers.push(old);
        return old;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function caughtUp(primary: PostgresServer): Promise<void> {
  await until('the standby has caught up', async () => {
    const [row] = await rowsOf(
      primary,
      'select bool_and(replay_lsn >= pg_current_wal_lsn()) as caught_up from pg_stat_replication',
    );
    return row?.['caught_up'] === true;
  });
}

async function rowsOf(
  { adminUrl }: PostgresServer,
  sql: string,
): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await asAdmin(adminUrl, (client) => client.query<Record<string, unknown>>(sql));
  return rows;
}
