import pg from 'pg';
import { getPostgres } from './servers.js';

/** A whole copy of a database, as a backup holds it. */
export interface Snapshot {
  /** The address of the copy itself: tests use it to make the copy look older. */
  readonly url: string;
  /** Replaces the database by this copy: drops it with all later changes and makes it anew. */
  restore(): Promise<void>;
  /** Removes it. */
  drop(): Promise<void>;
}

/**
 * Copies a database file by file, as of now. PostgreSQL copies only a database without connections, so all clients are
 * disconnected for a moment, as in a restart of the server. (The server that npm brings has no pg_dump.)
 */
export async function snapshotDatabase(url: string): Promise<Snapshot> {
  const { adminUrl } = await getPostgres();
  const name = new URL(url).pathname.slice(1);
  const copyName = `${name}_copy`;
  await unused(adminUrl, name, [
    `create database ${copyName} template ${name} owner gpu_rental strategy file_copy`,
  ]);
  const copyUrl = new URL(url);
  copyUrl.pathname = `/${copyName}`;
  return {
    url: copyUrl.toString(),
    async restore() {
      // The copy gets another name first, so that clients miss the database for a moment only.
      await runAll(adminUrl, [
        `create database ${name}_new template ${copyName} owner gpu_rental strategy file_copy`,
      ]);
      await unused(adminUrl, name, [
        `drop database ${name} with (force)`,
        `alter database ${name}_new rename to ${name}`,
      ]);
    },
    drop: () => runAll(adminUrl, [`drop database if exists ${copyName} with (force)`]),
  };
}

/** Runs statements while nobody can connect to a database. */
async function unused(adminUrl: string, name: string, statements: readonly string[]): Promise<void> {
  await runAll(adminUrl, [
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  ]);
  try {
    await untilUnused(adminUrl, name);
    await runAll(adminUrl, statements);
  } finally {
    await runAll(adminUrl, [`alter database ${name} allow_connections true`]);
  }
}

async function untilUnused(adminUrl: string, name: string): Promise<void> {
  await runAll(adminUrl, [
    `do $$ begin
       for turn in 1..500 loop
         exit when not exists (select 1 from pg_stat_activity where datname = '${name}');
         perform pg_sleep(0.01);
         perform pg_stat_clear_snapshot();
       end loop;
     end $$`,
  ]);
}

async function runAll(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
