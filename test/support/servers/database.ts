import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrateToLatest } from '../../../migrations/migrate.js';
import { makeTestOperators } from '../ops/operators.js';
import { getPostgres } from './servers.js';
import { areServersShared } from './shared-servers.js';
import { servers, type TestPostgres } from './started-servers.js';

/** An empty, migrated database of a test file's own. */
export interface TestDatabase {
  readonly url: string;
  /** Removes it and closes all connections to it. */
  drop(): Promise<void>;
}

const template = 'gpu_rental_template';

/**
 * Makes a database by cloning a template that is migrated once per run (a clone takes some 50 ms).
 * Call `drop` in an `after` hook.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { adminUrl, url } = await getPostgres();
  if (!areServersShared()) await getTemplate({ adminUrl, url });
  return createDatabase(template);
}

/** Makes an empty database, for tests that make the schema themselves. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase('template0');
}

/** Makes a copy of a database to which nobody is connected. */
export function copyDatabase({ url }: TestDatabase): Promise<TestDatabase> {
  return createDatabase(new URL(url).pathname.slice(1));
}

/** Fills an empty database by a dump, as the superuser: no trigger and no foreign key looks at the rows. */
export async function restoreDump({ url }: TestDatabase, sql: string): Promise<void> {
  const { adminUrl } = await getPostgres();
  const restoring = `set session_replication_role = replica; set role gpu_rental;`;
  await runSql(inDatabase(adminUrl, new URL(url).pathname.slice(1)), `${restoring}\n${sql}`);
}

async function createDatabase(from: string): Promise<TestDatabase> {
  const { adminUrl, url } = await getPostgres();
  const name = `test_${randomBytes(6).toString('hex')}`;
  // For a small template with fsync off, copying the files is faster than the log.
  await runSql(adminUrl, `create database ${name} template ${from} owner gpu_rental strategy file_copy`);
  return {
    url: inDatabase(url, name),
    drop: () => runSql(adminUrl, `drop database if exists ${name} with (force)`),
  };
}

/** Resolves when this process has made the template. */
export function getTemplate(postgres: TestPostgres): Promise<void> {
  servers.template ??= makeTemplate(postgres);
  return servers.template;
}

async function makeTemplate({ adminUrl, url }: TestPostgres): Promise<void> {
  await runSql(adminUrl, `create database ${template} owner gpu_rental`);
  await fillDatabase(inDatabase(url, template));
}

/** Gives an empty database the schema and the tests' operators. */
export async function fillDatabase(url: string): Promise<void> {
  await migrateToLatest(url);
  await makeTestOperators(url);
}

function inDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.toString();
}

async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
